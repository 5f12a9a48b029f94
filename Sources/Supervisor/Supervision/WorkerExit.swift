/// How a process ended, as `waitid` reported it.
///
/// The exit code is a worker's last message to its supervisor, so it has a contract (``ExitVerdict``): a worker that
/// knows that its configuration is wrong exits with 78, and is not started again and again in vain.
public enum WorkerExit: Hashable, Sendable {
  /// It called `exit` with this code, 0…255.
  case code(Int32)
  /// This signal ended it.
  case signal(Int32, coreDumped: Bool)
  /// It is gone, and its status is unknown: another part of the process took it.
  case unknown

  /// What the exit means to the supervisor.
  public var verdict: ExitVerdict {
    switch self {
    case .code(0): .done
    case .code(64): .usage
    case .code(69): .unavailable
    case .code(75): .tryLater
    case .code(78): .configuration
    case .code(125): .gaveUp
    case .code(126), .code(127): .notExecutable
    case .code, .signal, .unknown: .crash
    }
  }

  /// The exit code, if there was one.
  public var exitCode: Int32? {
    if case .code(let code) = self { code } else { nil }
  }

  /// The name of the signal that ended it, such as `SIGSEGV`.
  public var signalName: String? {
    if case .signal(let number, _) = self { Self.name(ofSignal: number) } else { nil }
  }

  /// What happened, for a person: `was killed by SIGSEGV (core dumped)`.
  public var sentence: String {
    switch self {
    case .code(let code):
      if let meaning = verdict.meaning { "exited with \(code) (\(meaning))" } else { "exited with \(code)" }
    case .signal(let number, let coreDumped):
      "was killed by \(Self.name(ofSignal: number))\(coreDumped ? " (core dumped)" : "")"
    case .unknown:
      "is gone; how it ended is not known"
    }
  }

  /// The name of a Linux signal, or `signal 40` for one without a name. The numbers are those of x86-64, arm64 and
  /// RISC-V.
  static func name(ofSignal number: Int32) -> String {
    signalNames.indices.contains(Int(number)) && number > 0 ? signalNames[Int(number)] : "signal \(number)"
  }

  private static let signalNames = [
    "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
    "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
    "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR",
    "SIGSYS",
  ]
}

/// The contract of exit codes: what a worker can request of its supervisor with its exit code.
///
/// The numbers are those of `sysexits.h` where it has one; 125 to 127 mean what they mean to a shell.
public enum ExitVerdict: Hashable, Sendable {
  /// 0: the work is done. Started again only under ``RestartRule/always``; the breaker counts that restart.
  case done
  /// 64: started with arguments it does not understand. Not started again.
  case usage
  /// 69: something outside is unavailable, perhaps for days. Restarted with back-off; the breaker does not count it.
  case unavailable
  /// 75: a fault of its own that may pass, such as a busy database. Always restarted with back-off, and counted.
  case tryLater
  /// 78: the configuration is wrong. Not started again.
  case configuration
  /// 125: it gives up. Not started again.
  case gaveUp
  /// 126, 127: the program could not be run at all.
  case notExecutable
  /// Any other code, any signal, and an unknown end.
  case crash

  /// The word beside the code in a sentence; nil for a crash, which has no word.
  var meaning: String? {
    switch self {
    case .done: "done"
    case .usage: "wrong usage"
    case .unavailable: "upstream unavailable"
    case .tryLater: "try later"
    case .configuration: "wrong configuration"
    case .gaveUp: "gave up"
    case .notExecutable: "could not be executed"
    case .crash: nil
    }
  }
}
