internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import RoostOutput

/// Reads filters as they are typed.
enum FilterArguments {
  static func read(_ texts: [String]) throws(Refusal) -> [JSONValue] {
    guard !texts.isEmpty else { return [.object([:])] }
    var filters: [JSONValue] = []
    for text in texts { filters.append(try JSONPayload.decode(JSONValue.self, from: text.utf8)) }
    return filters
  }

  static func validate(_ texts: [String]) throws {
    for text in texts {
      do throws(JSONText.Problem) { _ = try JSONText(Array(text.utf8)) } catch {
        throw ValidationError("The filter is not JSON: \(error).")
      }
    }
  }
}

/// `roost export`
struct Export: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes stored events, one JSON object a line, newest first.",
    discussion: "The bytes are those that were signed; 'roost import' takes them back.")
  @Option(help: ArgumentHelp("Only what this NIP-01 filter matches; may be given several times.", valueName: "json"))
  var filter: [String] = []
  @Option(help: "At most so many.")
  var limit: Int?
  @OptionGroup var general: GeneralOptions

  func validate() throws { try FilterArguments.validate(filter) }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let query = StoreQuery(filters: try FilterArguments.read(filter), limit: limit)
    let answer = try await session.client.stream("store.query", json: query)
    try session.onInterrupt(.interrupted) { answer.cancel() }
    while let part = try await answer.nextPart() {
      if !part.isLast { await session.output.writeLine(part.payload.bytes) }
    }
    return .done
  }
}

/// `roost observe`
struct Observe: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows stored events that a filter matches, and then new ones as they come.",
    discussion: """
      Each event has a number, its seq. With --after only events behind that one are shown, in their order. A restarted store or \
      supervisor leaves no gap. With --json each line is {"seq":…,"event":{…}}, and {"isStoredEnd":true,"seq":…} stands \
      behind the stored ones. Ctrl-C ends it.

        roost observe '{"kinds":[1],"limit":20}'
      """)
  @Argument(help: ArgumentHelp("NIP-01 filters as JSON; without any, everything.", valueName: "filter"))
  var filters: [String] = []
  @Option(help: ArgumentHelp("Only events behind this one.", valueName: "seq"))
  var after: Int64?
  @Option(
    help: ArgumentHelp(
      "Where events come from: \(ObservePolicy.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "policy")
  )
  var policy: String?
  @Option(help: ArgumentHelp("Ask no relay if these filters were fetched no longer ago.", valueName: "seconds"))
  var maxAge: Int64?
  @Option(name: .customLong("relay"), help: ArgumentHelp("A further relay to ask; may be repeated.", valueName: "url"))
  var relays: [String] = []
  @Flag(help: "Ask only these relays, and show only what was seen there.")
  var onlyTheseRelays = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    try FilterArguments.validate(filters)
    if let policy, ObservePolicy(rawValue: policy) == nil {
      let words = ObservePolicy.allCases.map(\.rawValue)
      throw ValidationError(
        "'\(policy)' is no policy; there are \(words.joined(separator: ", "))\(NearestName.hint(policy, among: words))")
    }
  }

  private func arguments(_ filters: [JSONValue], after seq: Int64?) -> StoreObserve {
    var arguments = StoreObserve(filters: filters, afterSeq: seq)
    arguments.policy = policy.flatMap(ObservePolicy.init(rawValue:))
    arguments.maxAge = maxAge
    arguments.relays = relays.isEmpty ? nil : relays
    arguments.exclusiveRelays = onlyTheseRelays ? true : nil
    return arguments
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let filters = try FilterArguments.read(filters)
    session.output.leaveWithReader()
    try session.onInterrupt(.interrupted) {}
    try await session.client.connect()
    var place = ObservedPlace(after)
    while true {
      do throws(Refusal) {
        let answer = try await session.client.stream(
          "store.observe", json: arguments(filters, after: place.resumeSeq))
        while let part = try await answer.next() {
          place.received(part.bytes)
          await print(part.bytes, session)
        }
      } catch {
        guard Self.passingCodes.contains(error.code) else { throw error }
        await EventLoopActor.sleep(milliseconds: Self.pauseMilliseconds)
      }
    }
  }

  /// The store, or the supervisor, is away for a moment.
  private static let passingCodes: Set<RefusalCode> = [.workerDied, .unavailable, .gone, .disconnected]
  private static let pauseMilliseconds: UInt64 = 200

  @EventLoopActor
  private func print(_ part: [UInt8], _ session: CommandSession) async {
    if session.isJSON { return await session.output.writeLine(part) }
    if let line = ObservedText.line(part, session.style) { await session.output.writeLines([line]) }
  }
}

/// Where an observer is: what it says when it has to ask again.
struct ObservedPlace {
  /// Nil until the stored events, which come newest first, are through: until then only asking anew misses nothing.
  private(set) var resumeSeq: Int64?

  init(_ afterSeq: Int64?) { resumeSeq = afterSeq }

  mutating func received(_ part: [UInt8]) {
    if part.starts(with: Self.endHead) {
      // The store's own; unreadable says nothing.
      if let end = try? JSONPayload.decode(StoredEnd.self, from: part) { resumeSeq = end.seq }
    } else if resumeSeq != nil, let seq = Self.seq(part) {
      resumeSeq = seq
    }
  }

  private static let endHead = Array("{\"isStoredEnd\"".utf8)

  /// The number behind `{"seq":`.
  static func seq(_ part: [UInt8]) -> Int64? {
    let head = Array("{\"seq\":".utf8)
    guard part.starts(with: head) else { return nil }
    return Int64(String(decoding: part.dropFirst(head.count).prefix { $0 &- 0x30 < 10 }, as: UTF8.self))
  }
}

/// `roost publish`
struct Publish: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stores a signed event of one's own.",
    discussion: """
      It is verified and committed when this returns. Nothing sends it to relays in this version; 'roost call relay.publish' does \
      that for one relay.
      """)
  @Argument(help: ArgumentHelp("The signed event: JSON, - for standard input, or @file.", valueName: "event"))
  var event = "-"
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let bytes = try InputBytes.read(event, isRaw: false)
    try await session.client.connect()
    let payload = try await session.client.request(
      "store.publish", BusPayload(bytes), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    let result = try payload.decoded(as: PublishResult.self)
    let place = result.seq.map { "as number \($0)" } ?? "and not kept, being ephemeral"
    let text =
      result.isNew
      ? "stored \(place): \(result.id)" : "there already\(result.seq.map { ", as number \($0)" } ?? ""): \(result.id)"
    await session.print(result, [text])
    return .done
  }
}
