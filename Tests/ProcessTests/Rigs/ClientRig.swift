import Clocks
import Contracts
import Cryptography
import Dispatch
import EventLoop
import Frames
import Glibc
import Nostr
import RoostClient
import Synchronization
import TestSupport
import Testing

extension Layout {
  /// A real event-store beside a real signer.
  static var storeAndSigner: Layout {
    var layout = Layout.store
    layout.workers.append(
      Worker(
        name: "signer",
        keys: [
          "role": "\"signer\"", "program": "\"\(SpawnedProcess.builtProgram("signer"))\"", "sandbox": "\"try\"",
        ]))
    return layout
  }
}

/// A Swift client on the loop's thread, driven by a test that stays on its own.
struct ClientRig: Sendable {
  let client: RoostClient

  init(_ roost: RunningRoost) throws {
    LoopThread.start()
    let socket = roost.socket
    client = try Self.wait {
      var settings = ClientSettings(name: "test", socket: socket, environment: [:])
      settings.backoff = BackOff(firstMilliseconds: 5, longestMilliseconds: 100)
      settings.patienceMilliseconds = 20_000
      return RoostClient(settings)
    }
  }

  /// Does something with the client and waits for it.
  func run<Value: Sendable>(_ body: @escaping @Sendable @EventLoopActor (RoostClient) async throws -> Value) throws
    -> Value
  {
    let client = client
    return try Self.wait { try await body(client) }
  }

  /// The refusal that something ends with.
  func refusal(_ body: @escaping @Sendable @EventLoopActor (RoostClient) async throws -> Void) throws -> Refusal? {
    let client = client
    return try Self.wait {
      do { try await body(client) } catch let refusal as Refusal { return refusal }
      return nil
    }
  }

  func close() throws { try run { $0.close() } }

  private static func wait<Value: Sendable>(_ body: @escaping @Sendable @EventLoopActor () async throws -> Value) throws
    -> Value
  {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, any Error>?>(nil)
    EventLoopActor.task {
      let value: Result<Value, any Error>
      do { value = .success(try await body()) } catch { value = .failure(error) }
      result.withLock { $0 = value }
      done.signal()
    }
    guard done.wait(timeout: .now() + 60) == .success, let value = result.withLock({ $0 }) else {
      throw DeadlinePassed(description: "the client has not answered within 60 s")
    }
    return try value.get()
  }
}

/// An observation that runs beside a test.
final class Watch: Sendable {
  private let items = Mutex<[ObservedItem]>([])
  private let ending = Mutex<Refusal?>(nil)
  private let hasEnded = Mutex(false)
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ rig: ClientRig, _ filters: [Filter], after seq: Int64? = nil, pauseMilliseconds: UInt64 = 0) {
    let observation = rig.client.observe(filters, after: seq)
    let task = EventLoopActor.task { [self] in
      do {
        for try await item in observation {
          items.withLock { $0.append(item) }
          if pauseMilliseconds > 0 { await EventLoopActor.sleep(milliseconds: pauseMilliseconds) }
        }
      } catch { ending.withLock { $0 = error as? Refusal } }
      hasEnded.withLock { $0 = true }
    }
    self.task.withLock { $0 = task }
  }

  /// What came, in order.
  var all: [ObservedItem] { items.withLock { $0 } }
  var events: [ReceivedEvent] { all.compactMap { if case .event(let event) = $0 { event } else { nil } } }
  var ends: Int { all.count { if case .storedEnd = $0 { true } else { false } } }
  var refusal: Refusal? { ending.withLock { $0 } }
  var isOver: Bool { hasEnded.withLock { $0 } }

  func cancel() { task.withLock { $0?.cancel() } }
}

/// Signed notes, a second apart; `first`: seconds since 1970.
func makeNotes(_ numbers: Range<Int>, kind: UInt16 = 1, from first: Int64 = 1_700_000_000) -> [Event] {
  let author = SecretKey.generate()
  return numbers.map {
    UnsignedEvent(pubkey: author.publicKey, createdAt: first + Int64($0), kind: kind, content: "\($0)")
      .signed(by: author)
  }
}
