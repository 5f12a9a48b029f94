import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// Registrations, wakes, and new keys of the ring, written as an editor writes them: nobody waits for the disk.
struct PushPlay {
  enum Fact {
    /// Somebody's device was registered.
    case registered(PushRig.Household, platform: String)
    /// A wake was accepted.
    case wake(String, platform: String)
    /// The key that browsers have subscribed under.
    case webPushKey([UInt8])
  }

  let rig: PushRig
  let told: ToldBook<Fact>

  init(_ rig: PushRig, _ told: ToldBook<Fact>) {
    self.rig = rig
    self.told = told
  }

  // MARK: Acting

  func turn(_ number: Int) throws {
    let platform = ["webpush", "ios", "android"][min(number, 1 + number % 2)]
    let phone = try rig.household([platform])
    told.note(.registered(phone, platform: platform))
    if platform == "webpush" {
      told.note(.webPushKey(SharedFolder.bytes(ofFile: rig.roost.path("state/push-relay/web-push.pem")) ?? []))
    }
    let sender = Ed25519SecretKey.generate()
    let body = PushRig.body(to: phone.key, by: sender, type: "turn\(number)")
    let wake = try rig.insistSigned(sender, "POST", "/wake", body)
    #expect(wake.status == 200, "\(wake.text)")
    told.note(.wake(wake["wake_id"], platform: platform))
    try addKey("turn\(number)")
    let answer = try rig.client.call("push.rekey")
    #expect(answer.isResponse, "\(answer.text)")
  }

  /// A new key on top of the ring, by a program that is recorded as well.
  private func addKey(_ name: String) throws {
    let ring = rig.roost.path("state/push-relay/keys")
    let lines = [PushRig.keyLine(name)] + rig.keyLines()
    let script = """
      import os, sys
      ring, text = sys.argv[1], sys.argv[2] + "\\n"
      file = os.open(ring + ".draft", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
      os.write(file, text.encode())
      os.close(file)
      os.rename(ring + ".draft", ring)
      """
    let editor = try SpawnedProcess(
      "/usr/bin/python3", ["-c", script, ring, lines.joined(separator: "\n")],
      environment: ["PATH=/usr/bin:/bin"] + told.log.environment(root: rig.roost.path("state")))
    let said = try editor.readAllOutput()
    #expect(try editor.waitForEnd() == .exited(0), "\(said)")
  }

  // MARK: Looking

  /// What of all that was told does not hold.
  static func violations(_ rig: PushRig, _ facts: [Fact]) throws -> [String] {
    var lines: [String] = []
    var lookCount = 0
    let status = try rig.status()
    if status.unreadable > 0 { lines.append("\(status.unreadable) registrations cannot be read") }
    for fact in facts {
      switch fact {
      case .webPushKey(let key):
        if SharedFolder.bytes(ofFile: rig.roost.path("state/push-relay/web-push.pem")) != key {
          lines.append("Web Push has another key")
        }
      case .registered(let phone, let platform):
        let sender = Ed25519SecretKey.generate()
        // Of a type of its own: it is not joined with one that is under way.
        let body = PushRig.body(to: phone.key, by: sender, type: "look\(lookCount)")
        lookCount += 1
        let wake = try rig.insistSigned(sender, "POST", "/wake", body)
        if wake.status != 200 || !arrives(wake["wake_id"], platform, rig) {
          lines.append("who registered with \(platform) is not woken: \(wake.text)")
        }
      case .wake(let id, let platform):
        if !arrives(id, platform, rig) { lines.append("a wake that was accepted never came to \(platform)") }
      }
    }
    return lines
  }

  private static func arrives(_ wake: String, _ platform: String, _ rig: PushRig) -> Bool {
    (try? awaitSoon("\(platform) has it", within: 20) { try !rig.pushes(of: wake, on: platform).isEmpty }) != nil
  }
}
