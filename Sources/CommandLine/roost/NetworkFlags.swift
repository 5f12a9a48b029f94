internal import Addresses
internal import ArgumentParser
internal import Contracts
internal import Frames
internal import RoostClient

/// Where events come from: the policies of `store.observe`, and relays.
struct NetworkFlags: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp("Where events come from: \(NetworkFlags.policies).", valueName: "policy"),
    transform: { text in
      guard let policy = ObservePolicy(rawValue: text) else {
        throw ValidationError("It is one of \(NetworkFlags.policies).")
      }
      return policy
    })
  var policy: ObservePolicy?
  @Option(
    help: ArgumentHelp("Ask no relay again whose answer is not older than this: 30s, 5m, 2h.", valueName: "time"),
    transform: Timeout.init(reading:))
  var maxAge: Timeout?
  @Option(help: ArgumentHelp("Ask this relay, too; may be given several times.", valueName: "url"))
  var relay: [String] = []
  @Flag(help: "Ask only each --relay, and count only what was seen there.")
  var exclusive = false

  private static let policies = ObservePolicy.allCases.map(\.rawValue).joined(separator: ", ")

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if exclusive, relay.isEmpty { throw ValidationError("--exclusive needs a --relay.") }
    do throws(Refusal) { _ = try options() } catch { throw ValidationError("\(error.message).") }
  }

  /// The options of an observation.
  func options() throws(Refusal) -> ObserveOptions {
    var relays: [RelayURL] = []
    for text in relay {
      do throws(RelayURLFault) { relays.append(try RelayURL(text)) } catch {
        throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
      }
    }
    return ObserveOptions(
      policy: policy, maxAgeSeconds: maxAge.map { Int64($0.milliseconds / 1_000) }, relays: relays,
      isExclusive: exclusive)
  }
}
