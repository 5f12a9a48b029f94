import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

// A relay with a clock of its own. The platforms' clock goes with it.

extension PushRig {
  /// Seconds by which the relay's clock is ahead, and how that is changed.
  struct Clock {
    let rig: PushRig
    private(set) var offset: Int64

    init(_ rig: PushRig, offset: Int64) {
      self.rig = rig
      self.offset = offset
    }

    /// The relay's clock, Unix seconds.
    var now: Int64 { WallClock.seconds + offset }

    /// Ends roostd and its worker in order, and starts them again with the clock so many seconds further on.
    mutating func restart(advancing seconds: Int64) throws {
      rig.roost.daemon.send(SIGTERM)
      #expect(try rig.roost.daemon.waitForEnd() == .exited(0))
      offset += seconds
      let environment = PushRig.environment(offset)
      try rig.roost.rewrite { $0.environment = environment }
      try rig.fakes.advanceClock(milliseconds: seconds * 1_000)
      try rig.roost.startAgain()
      try rig.roost.awaitReady()
    }

    /// `push.status`, of the worker that runs now.
    func status() throws -> PushStatus {
      try JSONPayload.decode(PushStatus.self, from: try rig.roost.client().call("push.status").terminal.payload)
    }

    /// `push.send` of wakes of these types.
    func send(to owner: Ed25519SecretKey, types: [String]) throws {
      let client = try rig.roost.client()
      let name = ZBase32.text(of: owner.publicKey.octets)
      for type in types {
        let sent = try client.call("push.send", #"{"owner":"\#(name)","type":"\#(type)"}"#)
        #expect(sent.isResponse, "\(sent.text)")
      }
    }
  }

  private static let variable = "ROOST_WALL_CLOCK_OFFSET"

  private static func environment(_ offset: Int64) -> [String] { ["\(variable)=\(offset)"] }

  /// Runs a relay whose clock is so many seconds ahead of ours.
  static func run(
    ahead offset: Int64, _ keys: [String: String] = [:], _ body: (PushRig, inout Clock) throws -> Void
  ) throws {
    let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
    var layout = try layout(fakes, port: port, directory: directory.path, keys)
    layout.workers[0].keys["environment"] = "[\"\(variable)\"]"
    layout.environment = environment(offset)
    try fakes.advanceClock(milliseconds: offset * 1_000)
    try withRoost(layout) { roost in
      let rig = try PushRig(roost, fakes, port)
      var clock = Clock(rig, offset: offset)
      try body(rig, &clock)
    }
  }

  /// Settings that let through all that a test asks.
  static let unlimited = [
    "sender-minute": "1000000", "sender-hour": "1000000", "recipient-hour": "1000000", "strangers-hour": "1000000",
    "prefix-minute": "10000000", "global-minute": "10000000",
  ]
}

extension JSONValue {
  /// A member's text; "" where there is none.
  func text(_ name: String) -> String { if case .string(let text)? = self[name] { text } else { "" } }
}
