internal import Frames

/// The methods of the role `push-relay`.
public enum PushMethod {
  /// Figures of the push relay.
  public static let status = Method<NoArguments, PushStatus>(
    576, "push.status", of: .pushRelay, for: [.client, .localRelay],
    "Figures of the push relay.")
  /// Registered devices, in the order of their registration. No tokens.
  public static let devices = Stream<PushDevices, PushDeviceRow, StoreCount>(
    577, "push.devices", of: .pushRelay, for: [.client],
    "Registered devices, in the order of their registration. No tokens.")
  /// Wakes the devices of a key without any limits, as a test.
  public static let send = Method<PushSend, PushSent>(
    578, "push.send", of: .pushRelay, for: [.client],
    "Wakes the devices of a key, past all limits, to try it.")
  /// Reads the key ring again and encrypts all tokens under its newest key.
  public static let rekey = Method<NoArguments, PushRekeyed>(
    579, "push.rekey", of: .pushRelay, for: [.client],
    "Reads the key ring again and encrypts all tokens under its newest key.")

  static let all: [MethodDeclaration] = [
    status.declaration, devices.declaration, send.declaration, rekey.declaration,
  ]
}

extension PushStatus: Payload {}
extension PushDeviceRow: Payload {}
extension PushSent: Payload {}
extension PushRekeyed: Payload {}
