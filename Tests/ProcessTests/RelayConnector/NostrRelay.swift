import Glibc
import LinuxSystem
import TestSupport

/// `Tests/Peers/nostr_relay_peer.py`, nostr-relay, running until this is gone: a relay by other people, which breaks
/// rules as others out there do.
///
/// It takes an event with a wrong id, one whose time is over and an older version of a profile, and serves them; does
/// not search; refuses without saying which event; answers each message behind a refusal two seconds later, and four
/// behind the next; and says `false` to what it has.
final class NostrRelay {
  /// Where `Scripts/python-environment.sh` puts the interpreter of its environment.
  static let interpreter = SharedFolder.repository + "/.venv-nostr-relay/bin/python"
  /// Whether it and the other real relay can run; tests with both are skipped when they cannot.
  static var isAvailable: Bool { PythonPeer.isAvailable && access(interpreter, X_OK) == 0 }
  static let absence = "no .venv or no .venv-nostr-relay: run Scripts/python-environment.sh"

  let url: String
  private let directory: TemporaryDirectory
  private let process: SpawnedProcess
  private let input: DescriptorPair

  /// - Parameters:
  ///   - events: a file of events that it has from the beginning, one a line.
  ///   - sendsChallenges: whether it asks each who connects to show himself (NIP-42).
  init(events: String? = nil, sendsChallenges: Bool = false) throws {
    directory = try TemporaryDirectory()
    input = try Descriptors.pipe()
    var arguments = [SharedFolder.repository + "/Tests/Peers/nostr_relay_peer.py"]
    if sendsChallenges { arguments.append("--auth") }
    if let events { arguments += ["--events", events] }
    process = try SpawnedProcess(
      Self.interpreter, arguments + [directory.path], environment: ["PYTHONUNBUFFERED=1"],
      descriptors: [0: input.first])
    url = try process.readLine(within: 60) { $0.hasPrefix("ws://") }
  }

  deinit {
    process.send(SIGKILL)
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  /// Waits until somebody has agreed with it on compression.
  func awaitCompression() throws { _ = try process.readLine { $0.hasPrefix("permessage-deflate:") } }
}
