import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Glibc
import LinkAddresses
import LinuxSystem
import Logging
import PageDoor
import PageFiles
import WebSocket
import WorkerKit

// The page of links. This worker has no key and keeps nothing: what the page shows it asks of `link-feed`, and what a
// browser may ask is listed in `PageDesk`.
//
//     browser ─ GET ─▶ files that are in this program         ─ WebSocket ─▶ PageClient ─▶ PageDesk ─ bus ─▶ link-feed
//
// Every answer to plain HTTP closes its connection, and no request has a body, so nothing can be sent by a form.

/// Listens, and lets browsers in.
@EventLoopActor
final class LinkPage {
  let worker: Worker
  let log = Logger(label: "links")
  private let settings: LinkPageSettings
  private let programs: LinkPrograms
  private lazy var desk = PageDesk(worker, programs)
  private lazy var server = WebSocketServer(delegate: self, limits: Self.limits)
  private let addressing: PageAddressing
  private let place: SocketAddress
  private var connecting: ConnectingUser
  private var door = PageDoor()
  private var clients: [UInt64: PageClient] = [:]
  private var nextClient: UInt64 = 1
  private let timer = LoopTimer()
  private let statusTimer = LoopTimer()
  /// Why it does not listen; nil when it does.
  private var fault: String? = "the page has not been opened yet"
  private var wait = listenMilliseconds
  private var lastStatus: [UInt8] = []

  /// Seconds of a clock that does not jump.
  private static var now: Int64 { Int64(EventLoop.process.now.nanoseconds / 1_000_000_000) }

  private static let listenMilliseconds: UInt64 = 1_000
  private static let listenMillisecondsMaximum: UInt64 = 30_000
  private static let statusMilliseconds: UInt64 = 3_000

  private static var limits: WebSocketServerLimits {
    var limits = WebSocketServerLimits()
    limits.connectionsMaximum = 64
    limits.handshakesMaximum = 32
    limits.receivingByteCountMaximum = 8 << 20
    limits.connection.messageByteCountMaximum = 128 << 10
    limits.connection.pendingByteCountMaximum = 2 * PageDesk.answerByteCountMaximum
    return limits
  }

  init(_ worker: Worker, directory: String, owners: SocketOwners?) throws(Refusal) {
    self.worker = worker
    settings = try worker.settings(of: LinkPageSettings.self)
    let address: ListenAddress
    do throws(ListenAddressFault) { address = try ListenAddress(settings.listen) } catch {
      throw Refusal(.failed, "listen: \(error)")
    }
    guard address.isLoopback else {
      throw Refusal(.failed, "listen: \(address) is open to others: the page is for this machine alone")
    }
    place = SocketAddress(address.host, port: address.port)
    addressing = PageAddressing(host: address.host.description, port: address.port)
    connecting = ConnectingUser(owners)
    programs = LinkPrograms(worker, settings, directory: directory)
  }

  /// Listens, and starts to serve.
  func start() {
    worker.serve(PageMethod.enter) { [unowned self] (_, wanted) throws(Refusal) in try invite(wanted) }
    worker.bus.onEvent = { [unowned self] in received($0) }
    worker.bus.onRegistry = { [unowned self] _ in follow() }
    worker.onDrain = { [unowned self] in
      programs.end()
      for client in clients.values { client.close(code: 1001, "the page is being restarted") }
    }
    follow()
    listen()
  }

  private func listen() {
    do throws(LoopFault) {
      try server.listen(on: place)
      fault = nil
      log.info("listening", metadata: ["address": "\(addressing.authority)"])
    } catch {
      // Not a reason to end: the programs are run without the page too.
      if fault != "\(error)" { log.error("the page cannot be opened", metadata: ["why": "\(error)"]) }
      fault = "\(error)"
      timer.set(afterMilliseconds: wait) { [unowned self] in listen() }
      wait = min(wait * 2, Self.listenMillisecondsMaximum)
    }
  }

  private func invite(_ wanted: PageEnter) throws(Refusal) -> PageAddress {
    if let fault {
      throw Refusal(.notListening, "\(addressing.authority) cannot be listened at: \(fault)", outcome: .notStarted)
    }
    var fragment = ""
    if let link = wanted.link {
      do throws(LinkDeepLinkFault) { fragment = "#open=\(try LinkDeepLink(link).parameter)" } catch {
        throw Refusal(.badRequest, "that is no link of linkstr: \(error)", outcome: .notStarted)
      }
    }
    let secret = door.invite(at: Self.now)
    return PageAddress(
      address: "\(addressing.origin)\(Self.entryPath)\(secret)\(fragment)", seconds: Int(PageDoor.invitationSeconds))
  }

  private static let entryPath = "/enter/"

  // MARK: Changes

  /// Subscribes to the changes of links; again when `link-feed` is there again.
  private func follow() {
    EventLoopActor.task { [self] in
      do throws(Refusal) { try await worker.bus.subscribe(LinkTopic.changes) } catch {
        log.debug("changes are not told", metadata: ["why": "\(error.message)"])
      }
    }
  }

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      guard var change = try event.value(of: LinkTopic.changes) else { return }
      if let notice = change.notice { programs.show(notice) }
      change.notice = nil
      let text = PageDesk.pushed("change", JSONPayload.encode(change))
      for client in clients.values { client.push(text) }
    } catch {
      log.error("an event of a topic cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Tells clients the status, when it has changed, while there are any.
  private func tellStatus() {
    guard !clients.isEmpty else { return }
    EventLoopActor.task { [self] in
      // `try?`: without link-feed there is no status; the requests of the page say so.
      let status = try? await worker.bus.request(
        LinkMethod.status, NoArguments(), ttlMilliseconds: UInt32(Self.statusMilliseconds))
      if let status {
        let text = PageDesk.pushed("status", JSONPayload.encode(status))
        if text != lastStatus {
          lastStatus = text
          for client in clients.values { client.push(text) }
        }
      }
      statusTimer.set(afterMilliseconds: Self.statusMilliseconds) { [unowned self] in tellStatus() }
    }
  }
}

// MARK: - Requests

extension LinkPage: WebSocketServerDelegate {
  func user(of peer: SocketAddress, at local: SocketAddress) -> UInt32? { connecting.user(of: peer, at: local) }

  func answer(to head: HTTPRequestHead, from peer: SocketAddress) -> HTTPDecision {
    if let refusal = refusal(of: head) { return .respond(refusal) }
    let isInside = cookie(of: head) != nil
    if head.wantsWebSocket {
      guard head.path == "/live" else { return refuse(404, "the page's connection is at /live") }
      guard addressing.isFromPage(head) else { return refuse(403, "only the page itself may connect here") }
      guard isInside else { return refuse(403, Self.entryText) }
      return .upgrade()
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      return refuse(405, "only GET is answered here", [HTTPField("Allow", "GET, HEAD")])
    }
    if head.path.hasPrefix(Self.entryPath) { return enter(head) }
    guard let file = PageFile.named(head.path) else { return refuse(404, "there is no such file") }
    guard isInside || PageFile.isOpen(head.path) else {
      return head.path == "/" ? .respond(answer(403, .entry)) : refuse(403, Self.entryText)
    }
    return .respond(answer(200, file))
  }

  /// The cookie with which a browser is in.
  private func cookie(of head: HTTPRequestHead) -> String? {
    addressing.cookies(in: head).first { door.isInside($0, at: Self.now) }
  }

  private static let entryText = "the page is closed to this browser: type 'roost links open'"

  /// Why a request is not answered at all.
  private func refusal(of head: HTTPRequestHead) -> HTTPAnswer? {
    guard addressing.isOurs(head) else { return plain(421, "this page is \(addressing.authority) and nothing else") }
    if ConnectingUser.isProxied(head) { return plain(403, "a proxy has passed this on") }
    switch head.user {
    case geteuid(): return nil
    case nil:
      return plain(403, "the page is for the user it runs as, and the kernel does not say whose this program is")
    case let user?: return plain(403, "the page is for the user it runs as, and this program is of uid \(user)")
    }
  }

  private func enter(_ head: HTTPRequestHead) -> HTTPDecision {
    // What only looks ahead must not use the address up.
    let looksAhead = ["purpose", "sec-purpose"].contains { head.tokens(of: $0).contains { $0.hasPrefix("prefetch") } }
    guard head.method == "GET", !looksAhead else { return refuse(405, "an address is opened by a person") }
    guard let cookie = door.enter(head.path.dropFirst(Self.entryPath.count), at: Self.now) else {
      log.notice("an address that is not known, or was used, or is too old, has been tried")
      return .respond(answer(403, .entry))
    }
    return .respond(
      HTTPAnswer(
        status: 303, fields: addressing.fields + [HTTPField("Location", "/"), addressing.setCookie(cookie)]))
  }

  private func answer(_ status: Int, _ file: PageFile) -> HTTPAnswer {
    HTTPAnswer(status: status, fields: addressing.fields + [HTTPField("Content-Type", file.type)], body: file.bytes)
  }

  private func plain(_ status: Int, _ text: String, _ fields: [HTTPField] = []) -> HTTPAnswer {
    HTTPAnswer(status: status, text: text, fields: addressing.fields + fields)
  }

  private func refuse(_ status: Int, _ text: String, _ fields: [HTTPField] = []) -> HTTPDecision {
    .respond(plain(status, text, fields))
  }

  func opened(_ connection: WebSocketConnection, for head: HTTPRequestHead, from peer: SocketAddress) {
    let number = nextClient
    nextClient += 1
    let cookie = cookie(of: head) ?? ""
    let client = PageClient(connection, desk) { [weak self] in
      guard let self else { return false }
      return door.isInside(cookie, at: Self.now)
    }
    clients[number] = client
    client.start { [weak self] in self?.clients[number] = nil }
    if !lastStatus.isEmpty { client.push(lastStatus) }
    if clients.count == 1 { tellStatus() }
  }

  func accepting(failedBy fault: LoopFault) {
    log.error("a connection could not be accepted", metadata: ["why": "\(fault)"])
  }
}
