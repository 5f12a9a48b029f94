import Addresses
import Clocks
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Nostr
import RoostClient
import Synchronization
import TestSupport
import Testing

extension ProcessTests {
  /// The whole way, with relays of other people, while everything on it dies. `ROOST_CHAOS_EVENTS=1000` for the long
  /// run.
  @Suite("Chaos", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct ChaosTests {
    @Test(
      "What is published while workers and roostd are killed reaches both relays, and who observes misses nothing",
      arguments: seeds(1))
    func chaos(seed: UInt64) throws {
      let relays = [try RealRelay(), try RealRelay()]
      let notes = makeNotes(0..<amount("ROOST_CHAOS_EVENTS", standard: 150))
      try withRoost(Self.layout(relays)) { roost in
        let rig = try ClientRig(roost)
        let watch = Watch(rig, [Filter(kinds: [1])])
        let publisher = Publisher(rig, notes, to: relays.map(\.url))
        var random = SeededGenerator(seed: seed)
        var kills = 0
        while !publisher.isDone {
          usleep(UInt32.random(in: 100_000...700_000, using: &random))
          try Self.killSomebody(roost, &random)
          kills += 1
          #expect(kills < 5_000, "the publisher comes to an end")
        }
        print("chaos: \(notes.count) events, \(kills) deaths")
        #expect(publisher.refusals.isEmpty, "\(publisher.refusals.prefix(3))")
        try roost.awaitReady()
        let client = try PublishClient(roost)
        try awaitSoon("all are confirmed", within: 120) {
          try client.publications(#"{"states":["optimistic","partial"],"limit":10000}"#).isEmpty
        }
        let told = try client.publications(#"{"limit":10000}"#)
        #expect(told.count == notes.count)
        for publication in told { #expect(publication.state == .confirmed, "\(publication)") }
        for relay in relays { #expect(try Self.ids(at: relay.url, client.peer) == Set(notes.map { "\($0.id)" })) }
        try awaitSoon("the observer has all") { Set(watch.events.map(\.event.id)).count == notes.count }
        #expect(watch.events.count == notes.count, "each once")
        // Subscriptions are back by themselves: what others publish there comes. Dated now: while the REQ is away for a
        // moment, a relay gets what is asked for afterwards only by its date.
        let others = makeNotes(0..<5, from: WallClock.seconds - 5)
        for note in others {
          let text = #"{"relay":"\#(relays[0].url)","event":\#(String(decoding: note.json, as: UTF8.self))}"#
          #expect(try client.peer.call("relay.publish", text).isResponse)
        }
        try awaitSoon("what others have published", within: 60) { watch.events.count == notes.count + others.count }
        watch.cancel()
        try awaitSoon("its end") { watch.isOver }
        try rig.close()
      }
    }

    private static func layout(_ relays: [RealRelay]) -> Layout {
      var layout = Layout.publishing
      let list = relays.map { "\"\($0.url)\"" }.joined(separator: ", ")
      for index in layout.workers.indices where layout.workers[index].name == "relay-connector" {
        layout.workers[index].keys["relays"] = "[\(list)]"
      }
      layout.workers += Layout.storeAndSigner.workers.filter { $0.name == "signer" }
      return layout
    }

    private static func killSomebody(_ roost: RunningRoost, _ random: inout SeededGenerator) throws {
      let names = [
        "outbox-planner", "event-store", "relay-connector", "signer", "outbox-planner", "event-store", "roostd",
      ]
      let name = names[Int.random(in: 0..<names.count, using: &random)]
      if name == "roostd" {
        try roost.killDaemon()
        try awaitSoon("all workers are gone") { roost.livingProcesses.isEmpty }
        return try roost.startAgain()
      }
      guard let pid = try? roost.worker(name).pid, pid > 0 else { return }
      kill(pid_t(pid), SIGKILL)
    }

    /// The ids of all notes that a relay has.
    private static func ids(at relay: String, _ peer: BusPeer) throws -> Set<String> {
      let answer = try peer.call("relay.request", #"{"relay":"\#(relay)","filters":[{"kinds":[1]}]}"#)
      #expect(answer.isResponse, "\(answer.text)")
      return Set(
        try answer.parts.compactMap { part in
          guard case .string(let id)? = try JSONPayload.decode(JSONValue.self, from: part.payload)["id"] else {
            return nil
          }
          return id
        })
    }
  }
}

/// A program that publishes, and asks again for as long as it is not told that an event was accepted.
private final class Publisher: Sendable {
  private let done = Mutex(false)
  private let refused = Mutex<[String]>([])

  /// So slow that every death finds some under way.
  private static let pauseMilliseconds: UInt64 = 20
  /// Most attempts for one event.
  private static let attemptMaximum = 100

  init(_ rig: ClientRig, _ notes: [Event], to relays: [String]) {
    let urls = relays.compactMap { try? RelayURL($0) }
    let client = rig.client
    EventLoopActor.task { [self] in
      for note in notes {
        await publish(note, urls, client)
        await EventLoopActor.sleep(milliseconds: Self.pauseMilliseconds)
      }
      done.withLock { $0 = true }
    }
  }

  var isDone: Bool { done.withLock { $0 } }
  var refusals: [String] { refused.withLock { $0 } }

  @EventLoopActor
  private func publish(_ note: Event, _ relays: [RelayURL], _ client: RoostClient) async {
    for attempt in 1...Self.attemptMaximum {
      do throws(Refusal) {
        _ = try await client.publish(note, to: relays)
        return
      } catch {
        if attempt == Self.attemptMaximum { refused.withLock { $0.append("\(error.code): \(error.message)") } }
        await EventLoopActor.sleep(milliseconds: 100)
      }
    }
  }
}
