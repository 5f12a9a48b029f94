internal import Clocks
public import EventLoop
public import TLS

// HTTP for the few things that Nostr has on the web: relay information (NIP-11), names (NIP-05), and pushes.
//
// libcurl does the work on the loop (docs/decisions/0011-libcurl.md). A program without requests pays nothing: the
// library is loaded at the first request, and half a minute after the last one the client frees its connections and
// libcurl's own memory.
//
//    send ──▶ TransferQueue: some at once, fewer per host ──▶ CurlTransfer in a CurlPool ──▶ answer or fault
//
// There are two pools. A pool keeps connections for later requests. A connection that was made to a private address
// must not serve a request that may dial global addresses only, so such requests have a pool of their own.

/// A client for HTTP/1.1 and HTTPS: bounded answers, deadlines, no redirects, no memory of earlier requests.
///
/// It trusts the authorities that `TLSClient` trusts, in the same way. It uses no proxies, cookies, passwords or
/// redirects, whatever the environment says. A request ends when its task is cancelled.
@EventLoopActor
public final class HTTPClient {
  private let limits: HTTPClientLimits
  private let security: @EventLoopActor () throws(TrustFault) -> TLSClient
  private var queue: TransferQueue
  private var exchanges: [UInt64: Exchange] = [:]
  private var lastKey: UInt64 = 0
  private var pool: CurlPool?
  private var strangersPool: CurlPool?
  private let idleTimer = LoopTimer()

  /// A client that has done nothing yet.
  ///
  /// - Parameters:
  ///   - limits: what it may hold at a time.
  ///   - security: returns the trusted authorities; called at each request to `https`, so that a process has them once.
  public init(
    limits: HTTPClientLimits = HTTPClientLimits(),
    security: @escaping @EventLoopActor () throws(TrustFault) -> TLSClient
  ) {
    self.limits = limits
    self.security = security
    queue = TransferQueue(limits)
  }

  isolated deinit { letGo() }

  /// Requests in flight, including those that wait.
  var requestCount: Int { queue.count }
  /// Whether connections and memory of libcurl are held at present.
  var isHoldingConnections: Bool { pool != nil || strangersPool != nil }

  /// Sends a request, and waits for the whole answer. Every status except a redirect is an answer.
  ///
  /// - Throws: why there is no answer; see ``HTTPFault/Code``.
  public func send(_ request: HTTPRequest) async throws(HTTPFault) -> HTTPResponse {
    let address = try HTTPAddress(request.url)
    if let objection = request.objection { throw HTTPFault(.badRequest, url: request.url, detail: objection) }
    guard !Task.isCancelled else { throw Self.cancelled(request) }
    guard queue.hasRoom else {
      throw HTTPFault(.full, url: request.url, detail: "\(limits.requestMaximum) requests are in hand already")
    }
    lastKey += 1
    let key = lastKey
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let exchange = Exchange(request, address, continuation)
        exchanges[key] = exchange
        exchange.deadline.set(afterMilliseconds: request.totalMilliseconds) { [unowned self] in late(key) }
        queue.added(key, host: "\(address.host) \(address.port)")
        startNext()
      }
    } onCancel: {
      EventLoopActor.task { self.end(key, .failure(Self.cancelled(request))) }
    }
    return try outcome.get()
  }

  private static func cancelled(_ request: HTTPRequest) -> HTTPFault {
    HTTPFault(.cancelled, url: request.url, detail: "cancelled by the caller")
  }

  // MARK: The queue

  private func startNext() {
    idleTimer.cancel()
    while let key = queue.next() {
      do throws(HTTPFault) { try start(key) } catch { end(key, .failure(error)) }
    }
  }

  private func start(_ key: UInt64) throws(HTTPFault) {
    guard let exchange = exchanges[key] else { preconditionFailure("who runs is in hand") }
    let pool = try pool(for: exchange.request)
    let witness = try witness(for: exchange)
    guard let transfer = CurlTransfer(exchange.request, exchange.address, pool.curl, witness) else {
      throw HTTPFault(.unavailable, url: exchange.request.url, detail: "libcurl does not take an option")
    }
    transfer.onEnd = { [unowned self] outcome in end(key, outcome) }
    guard pool.start(transfer) else {
      throw HTTPFault(.unavailable, url: exchange.request.url, detail: "libcurl has no memory")
    }
    exchange.running = (transfer, pool)
  }

  private func late(_ key: UInt64) {
    guard let exchange = exchanges[key] else { return }
    let host = exchange.address.host
    let detail =
      exchange.running == nil
      ? "it waited \(exchange.request.totalMilliseconds) ms for requests before it"
      : "\(host) has not answered in full within \(exchange.request.totalMilliseconds) ms"
    end(key, .failure(HTTPFault(.timedOut, url: exchange.request.url, detail: detail)))
  }

  /// The only end of a request, whatever its cause.
  private func end(_ key: UInt64, _ outcome: Result<HTTPResponse, HTTPFault>) {
    guard let exchange = exchanges.removeValue(forKey: key) else { return }
    exchange.deadline.cancel()
    if let (transfer, pool) = exchange.running { pool.release(transfer) }
    queue.ended(key)
    exchange.continuation.resume(returning: outcome)
    startNext()
    guard queue.isEmpty else { return }
    idleTimer.set(afterMilliseconds: limits.idleMilliseconds) { [unowned self] in letGo() }
  }

  // MARK: What is held

  private func pool(for request: HTTPRequest) throws(HTTPFault) -> CurlPool {
    let known = request.dialsGlobalAddressesOnly ? strangersPool : pool
    if let known { return known }
    let made: CurlPool?
    do throws(CurlMissing) {
      made = CurlPool(try CurlLibrary.load(), keptConnectionMaximum: limits.keptConnectionMaximum)
    } catch {
      throw HTTPFault(.unavailable, url: request.url, detail: error.detail)
    }
    guard let made else { throw HTTPFault(.unavailable, url: request.url, detail: "libcurl has no memory") }
    if request.dialsGlobalAddressesOnly { strangersPool = made } else { pool = made }
    return made
  }

  private func witness(for exchange: Exchange) throws(HTTPFault) -> HandshakeWitness? {
    guard exchange.address.isSecure else { return nil }
    do throws(TrustFault) { return try security().witness(host: exchange.address.host) } catch {
      throw HTTPFault(.trust, url: exchange.request.url, detail: "\(error)")
    }
  }

  private func letGo() {
    pool?.close()
    strangersPool?.close()
    pool = nil
    strangersPool = nil
  }
}

/// A request in flight.
@EventLoopActor
private final class Exchange {
  let request: HTTPRequest
  let address: HTTPAddress
  let continuation: CheckedContinuation<Result<HTTPResponse, HTTPFault>, Never>
  let deadline = LoopTimer()
  /// Its transfer and pool, once it runs.
  var running: (transfer: CurlTransfer, pool: CurlPool)?

  init(
    _ request: HTTPRequest, _ address: HTTPAddress,
    _ continuation: CheckedContinuation<Result<HTTPResponse, HTTPFault>, Never>
  ) {
    self.request = request
    self.address = address
    self.continuation = continuation
  }
}
