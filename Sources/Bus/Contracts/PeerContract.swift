internal import Addresses

// Two Roosts of one owner keep each other whole: events go both ways over the other's local relay, at its path
// ``PeerPath/text``, and what each has published is exchanged here.
//
//     mirror ── plan.exchange ──▶ planner       what was published here since the last time
//        └───── relay.publications ─▶ connector ── ["PUBLICATIONS", …] ──▶ the other's local relay ── plan.exchange ─┐
//     mirror ── plan.exchange ──▶ planner       what was published there                       the other's planner ◀─┘

/// Where a local relay serves the other Roosts of its owner.
public enum PeerPath {
  /// The path of the URL.
  public static let text = "/peer"

  /// The URL that is dialled for a peer of the settings; nil for text that is no relay's URL, or has a path.
  public static func url(of peer: String) -> String? {
    // `try?`: the caller says what is wrong.
    guard let url = try? RelayURL(peer), url.requestTarget == "/" else { return nil }
    return (url.text.hasSuffix("/") ? String(url.text.dropLast()) : url.text) + text
  }
}

/// `plan.exchange`: takes what another Roost of the same owner has published of an account, and answers with what was
/// published here. An event that the other has published is not published here again: its relays that have taken it
/// count as if it had been sent from here, and those that the other still tries are left to it. Answered when that is
/// on the disk.
///
/// Refused: `no-such-account`, `disk-full`.
public struct PublicationExchange: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"…, 64 hexadecimal digits","after":0,"publications":[]}"#

  /// The account, 64 hexadecimal digits. Publications of other authors are left out.
  public var account: String
  /// Answers with what has changed after this number, which is ``PublishedNews/next`` of the answer before; 0: with
  /// everything.
  public var after: Int64
  /// What the other has published; at most ``countMaximum``.
  public var publications: [Publication]

  /// The most publications in one message.
  public static let countMaximum = 128
  /// About how many bytes the publications of one message have at most.
  public static let byteCountMaximum = 48 << 10

  /// An exchange.
  public init(account: String, after: Int64, publications: [Publication] = []) {
    (self.account, self.after, self.publications) = (account, after, publications)
  }

  /// The number is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("after") { $0.after }] }

  /// Too many publications.
  public var objection: String? {
    publications.count <= Self.countMaximum
      ? nil : "'publications' has \(publications.count) entries; \(Self.countMaximum) are the most"
  }
}

/// The answer of `plan.exchange`, and of another Roost to the message PUBLICATIONS.
public struct PublishedNews: Codable, Sendable, Hashable, Payload {
  /// Publications that have changed, in the order of their changes.
  public var publications: [Publication]
  /// For the next question.
  public var next: Int64
  /// Whether there are no further changes.
  public var isComplete: Bool

  /// An answer.
  public init(publications: [Publication], next: Int64, isComplete: Bool) {
    (self.publications, self.next, self.isComplete) = (publications, next, isComplete)
  }
}

/// `relay.publications`: one exchange with another Roost of the same owner, at its ``PeerPath``. The account
/// authenticates there. Answered with ``PublishedNews``.
///
/// Refused: as `relay.request`, and `bad-payload` for an answer that cannot be read.
public struct RelayPublications: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"relay":"wss://home.example:4869/peer","account":"…, 64 hexadecimal digits","after":0,"publications":[]}"#

  /// The URL of the other Roost, with ``PeerPath``.
  public var relay: String
  /// As in ``PublicationExchange``.
  public var account: String
  /// As in ``PublicationExchange``, by the other's numbers.
  public var after: Int64
  /// What was published here, as in ``PublicationExchange``.
  public var publications: [Publication]

  /// A message to another Roost.
  public init(relay: String, _ exchange: PublicationExchange) {
    (self.relay, account, after, publications) = (relay, exchange.account, exchange.after, exchange.publications)
  }

  /// The part that the other Roost receives.
  public var exchange: PublicationExchange {
    PublicationExchange(account: account, after: after, publications: publications)
  }

  /// Too many publications.
  public var objection: String? { exchange.objection }
}

/// `mirror.sync`: compares with the other Roosts now, in both directions, after a comparison that is under way. Parts
/// are ``PeerStatus``, one for each whose turn is over; the answer counts the events that came or went.
///
/// Refused: `no-such-relay` without peers, or for a URL that is not among them.
public struct MirrorSync: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"peer":"wss://home.example:4869"}"#

  /// The peer, as in the settings; absent: all.
  public var peer: String?

  /// All peers, or one.
  public init(peer: String? = nil) { self.peer = peer }
}

/// How far this Roost and another one of the same owner are the same.
public struct PeerStatus: Codable, Sendable, Hashable, Payload {
  /// Its URL, as in the settings.
  public var peer: String
  /// Whether they are being compared now.
  public var isRunning: Bool
  /// When they were last the same in all that the accounts' interests name, seconds since 1970; absent: never.
  public var sameAt: Int64?
  /// When they are compared next, seconds since 1970; absent while that is under way.
  public var nextAt: Int64?
  /// Events that came from there in the last comparison.
  public var fetched: Int
  /// Events that were sent there in the last comparison, and are there now.
  public var sent: Int
  /// Publications of there that this Roost has learned of since its start.
  public var learned: Int
  /// Why the last comparison was not brought to its end; absent: it was.
  public var reason: String?

  /// A peer that was not compared yet.
  public init(peer: String) {
    (self.peer, isRunning, fetched, sent, learned) = (peer, false, 0, 0, 0)
  }
}
