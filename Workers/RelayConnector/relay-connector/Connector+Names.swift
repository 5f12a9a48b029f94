import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import HTTPClient
internal import JSON
import LinuxSystem
import Nostr
import RelayDials
import WorkerKit

/// The names (NIP-05) that were looked up, and the look-ups under way.
struct NameTable {
  /// What servers have answered, and how often they were asked.
  var known = NameLookUps<ResolvedName>()
  /// Look-ups under way. Callers that ask for the same name wait for the same one.
  var fetches: [InternetIdentifier: Task<Result<ResolvedName, Refusal>, Never>] = [:]
}

// Names: the server is any host, so only the connector that dials relays of no group asks it.

extension Connector {
  /// How long a server may take, in milliseconds.
  private static let nameMilliseconds: UInt64 = 5_000

  /// - Returns: nil when another connector answers.
  func resolve(_ request: BusRequest, _ wanted: NameResolve) async throws(Refusal) -> ResolvedName? {
    guard let name = InternetIdentifier(wanted.name) else {
      throw Refusal(.badRequest, "'name' is not name@domain, nor a domain", outcome: .notStarted)
    }
    guard settings.ephemeral else {
      let refusal = Refusal(
        .unavailable,
        "\(name) is not looked up: no relay-connector may connect to servers that supervisor.conf does not name; "
          + "'ephemeral = true' in [worker.\(worker.name)] permits it", outcome: .notStarted)
      guard let outsider = groups.outsider else { throw refusal }
      request.handOver(to: outsider, otherwise: refusal)
      return nil
    }
    if let known = names.known.answer(for: name.description, at: EventLoop.process.now) { return known }
    if let running = names.fetches[name] { return try await running.value.get() }
    if let wait = names.known.begin(at: EventLoop.process.now) {
      throw Refusal(
        .rateLimited,
        "\(name) is not looked up yet: \(NameLookUps<ResolvedName>.lookUpMaximum) names were within the last minute, "
          + "which is the most", outcome: .notStarted, retryAfterMilliseconds: UInt32(clamping: wait))
    }
    let task = EventLoopActor.task { [self] in
      let result = await fetched(name)
      names.fetches[name] = nil
      if case .success(let answer) = result {
        names.known.answered(name.description, answer, at: EventLoop.process.now)
      }
      return result
    }
    names.fetches[name] = task
    return try await task.value.get()
  }

  private func fetched(_ name: InternetIdentifier) async -> Result<ResolvedName, Refusal> {
    let isOwnServer = !settings.nameServer.isEmpty
    var request = HTTPRequest(.get, isOwnServer ? name.address(at: settings.nameServer) : name.address)
    request.answerByteCountMaximum = InternetIdentifier.answerByteCountMaximum
    request.totalMilliseconds = Self.nameMilliseconds
    request.connectMilliseconds = min(settings.connectTimeoutMilliseconds, Self.nameMilliseconds)
    request.dialsGlobalAddressesOnly = !isOwnServer
    let server = isOwnServer ? settings.nameServer : name.domain
    func unknown(_ why: String) -> Result<ResolvedName, Refusal> {
      .failure(Refusal(.noSuchName, "\(name) leads to no key (NIP-05): \(why)", outcome: .notStarted))
    }
    do throws(HTTPFault) {
      let answer = try await httpClient.send(request)
      guard answer.status == 200 else { return unknown("\(server) answers \(answer.status)") }
      do throws(JSONFault) {
        guard let found = try name.find(in: answer.body) else {
          return unknown("\(server) answers, and does not know '\(name.name)'")
        }
        return .success(
          ResolvedName(
            name: name.description, pubkey: found.pubkey.description, relays: found.relays.map(\.text),
            fetchedAt: WallClock.seconds))
      } catch {
        return unknown("\(server) answers with something else than a JSON object (\(error))")
      }
    } catch {
      switch error.code {
      case .cut, .tooLarge, .redirected, .badAnswer: return unknown(error.detail)
      default: return .failure(Self.refusal(error, "\(name)", "servers", unreachable: .nameUnreachable))
      }
    }
  }
}
