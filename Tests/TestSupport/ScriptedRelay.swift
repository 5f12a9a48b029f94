public import Clocks
import Glibc
import LinuxSystem
import Synchronization

// A relay that does what a script says, down to single bytes: for every way in which a relay of the internet can
// misbehave.
//
//     let relay = try ScriptedRelay(.accept(), .expect("REQ"), .events(0..<3), .endOfStored())
//     let relay = try ScriptedRelay(scripts: [[.accept(), .reset], [.accept(), .expect("REQ"), .endOfStored()]])
//
// A script is a list of steps for one connection; the first connection gets the first script, and the last script
// serves all that come later. When its steps are done a relay listens, says nothing more, and notes what comes, until
// the other side leaves. What the relay saw stands in `visits`: when each connection came, the request's head, the
// frames.
//
// One thread for each connection, and blocking calls: a script then reads from top to bottom, and the tests of real
// processes, which use it, block as well. The tests of loops and machines have servers of their own.
//
// Nothing waits for ever: a step that waits gives up after `patienceSeconds`, and when the relay goes all its
// connections are shut down and its threads joined.

/// A server of WebSockets on a free port of 127.0.0.1 that keeps to a script, or to one for each connection in turn.
public final class ScriptedRelay: Sendable {
  /// Where it is: `ws://127.0.0.1:34567`.
  public let url: String
  private let shared: Shared
  private let acceptor: JoinedThread

  /// How long a step waits for the other side, or for the test, before the script is given up.
  public static let patienceSeconds = 30.0

  /// A relay that keeps to one script in each connection.
  public convenience init(_ steps: RelayStep...) throws { try self.init(scripts: [steps]) }

  /// A server that gets requests for its information document only, and answers each by the script.
  public convenience init(information steps: RelayStep...) throws {
    try self.init(scripts: [steps], scriptsInformation: true)
  }

  /// A relay with a script for each connection in turn; the last one serves all others. Not empty.
  /// With an information document (NIP-11), a request for it gets the document, and another HTTP server's page without
  /// one; such requests are no visits.
  public init(scripts: [[RelayStep]], information: String? = nil, scriptsInformation: Bool = false) throws {
    let (listener, port) = try listeningSocket()
    url = "ws://127.0.0.1:\(port)"
    let shared = Shared(listener: listener, information: information, scriptsInformation: scriptsInformation)
    self.shared = shared
    acceptor = JoinedThread { shared.acceptAll(scripts) }
  }

  deinit {
    shared.shutDown()
    acceptor.join()
  }

  /// One connection, as the relay saw it.
  public struct Visit: Sendable {
    /// When it was accepted.
    public let acceptedAt: Instant
    /// The head of the upgrade request; empty until it was read.
    public internal(set) var request = ""
    /// The frames that came, unmasked; no more than ``frameMaximum``.
    public internal(set) var frames: [WebSocketFrame] = []
    /// Whether the other side has left, or the script has cut it off.
    public internal(set) var isOver = false
    /// The step at which the other side left, or that waited in vain; nil when the script was done to its end.
    public internal(set) var unfinishedStep: String?

    /// Most frames that are kept of a connection.
    public static let frameMaximum = 10_000

    /// The text messages that came.
    public var texts: [String] { frames.filter { $0.opcode == 1 }.map(\.text) }
    /// The text messages that begin with this label: `["REQ"`.
    public func texts(_ label: String) -> [String] { texts.filter { $0.hasPrefix("[\"\(label)\"") } }
    /// The code of the close frame that came, if one came and had one.
    public var closeCode: UInt16? { frames.lazy.compactMap(\.closeCode).first }
  }

  /// All connections until now, the first one first.
  public var visits: [Visit] { shared.state.withLock { $0.visits } }

  /// How often its information document was requested.
  public var informationRequests: Int { shared.state.withLock { $0.informationRequests } }

  /// Blocks until what the relay has seen is as wanted.
  @discardableResult
  public func awaitVisits(_ what: String, _ condition: ([Visit]) -> Bool) throws -> [Visit] {
    try awaitSoon("\(url): \(what)", within: Self.patienceSeconds) {
      let visits = self.visits
      return !visits.isEmpty && condition(visits)
    }
    return visits
  }

  /// Lets the scripts go on that wait, or will wait, at ``RelayStep/hold(_:)`` with this name.
  public func release(_ gate: String) { shared.state.withLock { _ = $0.released.insert(gate) } }
}

extension ScriptedRelay {
  /// What the threads of a relay share.
  final class Shared: Sendable {
    struct State {
      var visits: [Visit] = []
      var released: Set<String> = []
      /// Open descriptors of connections; a number is in here from its accept to its close, both under the lock.
      var descriptors: Set<Int32> = []
      var threads: [JoinedThread] = []
      var isShutDown = false
      var informationRequests = 0
    }

    let state = Mutex(State())
    private let listener: Int32
    private let information: String?
    private let scriptsInformation: Bool

    init(listener: Int32, information: String?, scriptsInformation: Bool) {
      self.listener = listener
      self.information = information
      self.scriptsInformation = scriptsInformation
    }
    deinit { Descriptors.close(listener) }

    func acceptAll(_ scripts: [[RelayStep]]) {
      while true {
        let descriptor = accept(listener, nil, nil)
        if descriptor < 0 {
          if errno == EINTR || errno == ECONNABORTED { continue }
          return
        }
        // Glibc's module has no accept4. A process that is spawned in between keeps a copy, which is why every end of a
        // connection is a shutdown first.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if !scriptsInformation, Self.requestsInformation(descriptor) {
          answerInformation(descriptor)
          continue
        }
        guard let index = enter(descriptor) else { return }
        let script = scripts[min(index, scripts.count - 1)]
        let thread = JoinedThread { [self] in
          RelayConversation(self, index: index, descriptor: descriptor).run(script)
        }
        state.withLock { $0.threads.append(thread) }
      }
    }

    /// Whether the head of the request, which is left unread, asks for the information document.
    private static func requestsInformation(_ descriptor: Int32) -> Bool {
      var bytes = [UInt8](repeating: 0, count: 2_048)
      // A client sends its head at once; one that sends nothing is for the script.
      for _ in 0..<10 {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 200) > 0 else { return false }
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_PEEK))
        guard count > 0 else { return false }
        let head = String(decoding: bytes[..<count], as: UTF8.self)
        if head.contains("\r\n\r\n") || !head.hasPrefix("GET ") { return head.contains("application/nostr+json") }
        usleep(1_000)
      }
      return false
    }

    private func answerInformation(_ descriptor: Int32) {
      state.withLock { $0.informationRequests += 1 }
      // What is left unread at a close would reset the connection.
      var request = [UInt8](repeating: 0, count: 4_096)
      _ = recv(descriptor, &request, request.count, 0)
      let body = information ?? "no relay"
      let head = "HTTP/1.1 \(information == nil ? "404 Not Found" : "200 OK")\r\nContent-Length: \(body.utf8.count)\r\n"
      let answer = Array((head + "Connection: close\r\n\r\n" + body).utf8)
      _ = answer.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      shutdown(descriptor, Int32(SHUT_WR))
      Descriptors.close(descriptor)
    }

    /// Notes a connection; nil, and it is closed, when the relay is being shut down.
    private func enter(_ descriptor: Int32) -> Int? {
      let index = state.withLock { state -> Int? in
        guard !state.isShutDown else { return nil }
        state.descriptors.insert(descriptor)
        state.visits.append(Visit(acceptedAt: monotonicNow()))
        return state.visits.count - 1
      }
      if index == nil { Descriptors.close(descriptor) }
      return index
    }

    func note(_ index: Int, _ change: (inout Visit) -> Void) { state.withLock { change(&$0.visits[index]) } }

    /// The one place that closes a connection; with `isReset`, by RST.
    func leave(_ index: Int, _ descriptor: Int32, isReset: Bool = false) {
      state.withLock { state in
        guard state.descriptors.remove(descriptor) != nil else { return }
        if isReset {
          var linger = linger(l_onoff: 1, l_linger: 0)
          setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        } else {
          shutdown(descriptor, Int32(SHUT_RDWR))
        }
        Descriptors.close(descriptor)
        state.visits[index].isOver = true
      }
    }

    /// Wakes every thread that blocks, and waits for those of connections.
    func shutDown() {
      let threads = state.withLock { state in
        state.isShutDown = true
        for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        return state.threads
      }
      shutdown(listener, Int32(SHUT_RDWR))
      for thread in threads { thread.join() }
    }
  }
}

/// Now, on the clock of `Instant`.
func monotonicNow() -> Instant {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
}

/// A listening socket on a free port of 127.0.0.1; the caller owns it.
private func listeningSocket() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &size) == 0
    }
  }
  guard descriptor >= 0, status else {
    let code = errno
    Descriptors.close(descriptor)
    throw SpawnFailed(code: code, program: "a listening socket")
  }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}
