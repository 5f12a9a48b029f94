internal import Cryptography
internal import Frames
internal import Glibc
internal import Rendering

// Secrets that a person types. They are never arguments: arguments are in the shell's history, and in the list of
// processes for all users to see. On a terminal, a prompt asks for them and what is typed is not shown; otherwise they
// are lines of standard input, so that a password manager can be the other end of a pipe.

/// Reads secrets line by line.
enum SecretInput {
  /// The longest line, in bytes.
  static let byteCountMaximum = Passphrase.byteCountMaximum

  /// Whether a person can be asked.
  static var isTerminal: Bool { Terminal.isTerminal(STDIN_FILENO) }

  /// The next line, without its line end; on a terminal `prompt` asks for it. The caller wipes it.
  ///
  /// - Returns: nil at the end of standard input.
  static func readLine(_ prompt: String) throws(Refusal) -> [UInt8]? {
    guard isTerminal else { return try readPlainLine("standard input") }
    // Before the prompt: what a quick person, or a program, types at once must neither be shown nor be discarded.
    let echo = HiddenTyping()
    say(prompt)
    defer {
      echo.end()
      say("\n")
    }
    return try readPlainLine("the terminal")
  }

  /// Writes to the terminal, even if standard output is a pipe.
  static func say(_ text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }

  /// Asks a question on the terminal; anything but yes is no.
  static func isYes(_ question: String) -> Bool {
    say(question)
    return ["y", "yes"].contains(Swift.readLine()?.lowercased() ?? "")
  }

  /// Byte by byte, so that what follows the line stays for the next call, and no buffer keeps a copy.
  private static func readPlainLine(_ source: String) throws(Refusal) -> [UInt8]? {
    var line: [UInt8] = []
    // The array must not grow: that would leave copies that are not wiped.
    line.reserveCapacity(byteCountMaximum + 1)
    var byte: UInt8 = 0
    defer { byte = 0 }
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count < 0 {
        line.wipe()
        if errno == EINTR { throw Refusal("interrupted", "given up", outcome: .notStarted) }
        let reason = String(cString: strerror(errno))
        throw Refusal(.badRequest, "cannot read \(source): \(reason)", outcome: .notStarted)
      }
      if count == 0 { return line.isEmpty ? nil : line }
      if byte == UInt8(ascii: "\n") { break }
      guard line.count < byteCountMaximum else {
        line.wipe()
        throw Refusal(
          .badRequest, "the line from \(source) has more than \(byteCountMaximum) bytes", outcome: .notStarted)
      }
      line.append(byte)
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }
}

/// A terminal that does not show what is typed, until `end()`; also if Ctrl-C ends the typing.
private struct HiddenTyping {
  private var settings = termios()
  private var handlers: [(Int32, sigaction)] = []

  init() {
    tcgetattr(STDIN_FILENO, &settings)
    // Without a handler Ctrl-C would end the program and leave the terminal without echo. With one, the read fails.
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      var before = sigaction()
      sigaction(number, &action, &before)
      handlers.append((number, before))
    }
    var hidden = settings
    hidden.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
  }

  func end() {
    var settings = settings
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    for (number, before) in handlers {
      var before = before
      sigaction(number, &before, nil)
    }
  }
}
