import Addresses
import Bus
import Contracts
import EventLoop
import Frames
import HTTPClient
internal import JSON
import LinuxSystem
import Logging
import Nostr
import RelaySession
import TLS
import WebSocket
import WorkerKit

/// The information documents of relays, and the fetches under way.
struct InformationTable {
  /// The documents that were fetched.
  var shelf = InformationCache()
  /// Fetches under way. Callers that ask for the same document wait for the same fetch.
  var fetches: [Query: Task<Result<InformationCache.Document, Refusal>, Never>] = [:]
  /// Made for the first fetch.
  var client: HTTPClient?
  /// Whether the worker drains: no fetch begins.
  var isEnding = false

  /// What is fetched. A fetch for a foreign relay is a separate one: it may fail where one for an own relay does not.
  struct Query: Hashable {
    let relay: RelayURL
    let isForeign: Bool
  }
}

extension Connector {
  /// How long a relay may take for its document, in milliseconds.
  private static let informationMilliseconds: UInt64 = 5_000

  // MARK: By itself

  /// A relay is connected: its session learns the bounds that the relay publishes, now or when they were fetched.
  func learnLimits(of link: RelayLink) {
    if let known = information.shelf.connected(link.url, at: EventLoop.process.now) {
      link.tell { session, now in session.limitationRead(known.information.limitation, at: now) }
    }
    fetchNext()
  }

  private func fetchNext() {
    while !information.isEnding, let relay = information.shelf.nextFetch() {
      let isForeign = links[relay].map(isForeign) ?? true
      EventLoopActor.task { [self] in
        // Without a document the assumed bounds stay in force.
        if case .failure(let refusal) = await fetch(.init(relay: relay, isForeign: isForeign)).value {
          log.debug("no document", metadata: ["relay": "\(relay)", "why": "\(refusal.message)"])
        }
        information.shelf.fetchEnded(relay)
        fetchNext()
      }
    }
  }

  // MARK: relay.information

  func information(_ wanted: RelayInformationRequest) async throws(Refusal) -> RelayInformationResult {
    let url = try parse(wanted.relay)
    try requireDialling(url, besides: 0)
    if let quarantine = quarantine.quarantine(of: url) {
      throw Refusal("relay-unreachable", "\(url): \(quarantine.reason)", outcome: .notStarted)
    }
    let now = EventLoop.process.now
    if let known = information.shelf.document(of: url, age: InformationCache.shownMilliseconds, at: now) {
      return result(known, of: url)
    }
    let question = InformationTable.Query(relay: url, isForeign: wanted.isForeign ?? false)
    do throws(Refusal) { return result(try await fetch(question).value.get(), of: url) } catch {
      guard error.code == .noInformation else { throw error }
      let bounds = Self.bounds(links[url]?.session.policy ?? RelayPolicy())
      let told = bounds.map { "\($0.name) \($0.value) (\($0.source.rawValue))" }.joined(separator: ", ")
      throw Refusal(.noInformation, "\(error.message). In force: \(told)", outcome: .notStarted)
    }
  }

  private func result(_ document: InformationCache.Document, of url: RelayURL) -> RelayInformationResult {
    var policy = links[url]?.session.policy ?? RelayPolicy()
    if links[url] == nil { policy.said(document.information.limitation) }
    return RelayInformationResult(
      relay: url.text, fetchedAt: document.fetchedAt, document: JSONValue(document.information),
      dropped: document.complaints.map(\.description) + policy.absurdities.map(\.description),
      bounds: Self.bounds(policy))
  }

  /// What is in force, under the names of NIP-11.
  private static func bounds(_ policy: RelayPolicy) -> [RelayInformationResult.Bound] {
    let bounds: [(String, RelayPolicy.Bound)] = [
      ("max_subscriptions", policy.subscriptions), ("max_message_length", policy.messageBytes),
      ("max_limit", policy.limit), ("default_limit", policy.defaultLimit),
    ]
    return bounds.map { name, bound in
      let source: RelayInformationResult.Bound.Source =
        switch bound.source {
        case .assumed: .assumed
        case .said: .said
        case .learned: .learned
        }
      return .init(name: name, value: bound.value, source: source)
    }
  }

  private func fetch(
    _ question: InformationTable.Query
  ) -> Task<Result<InformationCache.Document, Refusal>, Never> {
    if let running = information.fetches[question] { return running }
    let task = EventLoopActor.task { [self] in
      let result = await fetched(question)
      information.fetches[question] = nil
      if case .success(let document) = result {
        information.shelf.fetched(document, of: question.relay, at: EventLoop.process.now)
        links[question.relay]?.tell { session, now in
          session.limitationRead(document.information.limitation, at: now)
        }
      }
      return result
    }
    information.fetches[question] = task
    return task
  }

  private func fetched(_ question: InformationTable.Query) async -> Result<InformationCache.Document, Refusal> {
    let url = question.relay
    var request = HTTPRequest(
      .get, url.informationURL, fields: [HTTPField("Accept", "application/nostr+json")])
    request.answerByteCountMaximum = RelayInformation.byteCountMaximum
    request.totalMilliseconds = Self.informationMilliseconds
    request.connectMilliseconds = min(settings.connectTimeoutMilliseconds, Self.informationMilliseconds)
    request.dialsGlobalAddressesOnly = question.isForeign
    do throws(HTTPFault) {
      let answer = try await httpClient.send(request)
      guard answer.status == 200 else {
        return .failure(Self.noInformation(url, "\(url.host) answers \(answer.status)"))
      }
      do throws(JSONFault) {
        let (document, complaints) = try RelayInformation.read(answer.body)
        return .success(
          .init(document, complaints: complaints, fetchedAt: WallClock.seconds, byteCount: answer.body.count))
      } catch {
        return .failure(
          Self.noInformation(url, "\(url.host) answers with something else than a JSON object (\(error))"))
      }
    } catch {
      switch error.code {
      case .cut, .tooLarge, .redirected, .badAnswer: return .failure(Self.noInformation(url, error.detail))
      default: return .failure(Self.refusal(error, "\(url)", "relays"))
      }
    }
  }

  var httpClient: HTTPClient {
    if let client = information.client { return client }
    let client = HTTPClient { [unowned self] () throws(TrustFault) in try trust() }
    information.client = client
    return client
  }

  /// For a drain: ends the fetches, so that their callers get an answer without waiting for slow relays.
  func endFetches() {
    information.isEnding = true
    for task in information.fetches.values { task.cancel() }
    for task in names.fetches.values { task.cancel() }
  }

  // MARK: Refusals

  private static func noInformation(_ url: RelayURL, _ why: String) -> Refusal {
    Refusal(.noInformation, "\(url) has no information document (NIP-11): \(why)", outcome: .notStarted)
  }

  /// The refusal for a fault that is not the answer itself.
  ///
  /// - Parameters:
  ///   - fault: the fault.
  ///   - whom: who was asked for.
  ///   - hosts: what hosts of this sort are called: `relays`.
  ///   - unreachable: the code when the host does not answer.
  static func refusal(
    _ fault: HTTPFault, _ whom: String, _ hosts: String, unreachable: RefusalCode = "relay-unreachable"
  ) -> Refusal {
    let code: RefusalCode
    var message = "\(whom): \(fault.detail)"
    switch fault.code {
    case .nameLookup, .unreachable, .tls: code = unreachable
    case .privateAddress:
      code = unreachable
      message += "; \(hosts) that other people name are not dialled there"
    case .timedOut: code = "timed-out"
    case .full: code = .full
    case .cancelled: return Refusal(.unavailable, "the relay-connector is being stopped", outcome: .notStarted)
    case .cut, .tooLarge, .redirected, .badAnswer, .badRequest, .unavailable, .trust: code = .failed
    }
    return Refusal(code, message, outcome: .notStarted)
  }
}

extension JSONValue {
  /// A relay's document under the names of NIP-11.
  fileprivate init(_ information: RelayInformation) {
    // JSON that was just written can be read.
    do throws(Refusal) {
      self = try JSONPayload.decode(JSONValue.self, from: JSONPayload.encode(information))
    } catch {
      preconditionFailure("a document that was written can be read: \(error.message)")
    }
  }
}
