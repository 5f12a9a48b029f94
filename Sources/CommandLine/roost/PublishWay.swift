internal import Addresses
internal import ArgumentParser
internal import Frames

/// Where `roost publish` sends events, and how long it waits for that.
struct PublishWay: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("To this relay and no others; several times.", valueName: "url"))
  var relay: [String] = []
  @Flag(name: .customLong("local"), help: "Only store it: it is sent to no relay.")
  var isLocal = false
  @Flag(name: .customLong("no-wait"), help: "Do not wait for relays once it is accepted.")
  var isHasty = false
  @Option(
    help: ArgumentHelp(
      "How long to wait for an event in all, for a locked key as well: 30s, 2m. Relays have 10s unless said.",
      valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout: Timeout?

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if isLocal, !relay.isEmpty { throw ValidationError("What is stored only goes to no --relay.") }
    do throws(Refusal) { _ = try relays() } catch { throw ValidationError("\(error.message).") }
  }

  /// How long to wait for relays without --timeout.
  static let patience = Timeout(milliseconds: 10_000)

  /// The relays that were named; nil without any.
  func relays() throws(Refusal) -> [RelayURL]? {
    var relays: [RelayURL] = []
    for text in relay {
      do throws(RelayURLFault) { relays.append(try RelayURL(text)) } catch {
        throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
      }
    }
    return relays.isEmpty ? nil : relays
  }
}
