// Profiles (kind 0), whom a few letters mean, and whether a name is a person's (NIP-05): the part of the worker
// `people` that every program with a list of people asks.

/// `people.profiles`: the profiles of up to ``keyMaximum`` people: those that are known at once, then each that comes,
/// and each newer one while the request is open.
///
/// Parts are ``ProfilePage``. Nothing waits for completeness: a profile is sent when it is here. A person without a
/// profile is sent once, when that is known. After the last relay has been asked comes one part with
/// ``ProfilePage/asked``; without `live` the request ends there.
public struct PeopleProfiles: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"keys":["82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"],"maxAge":3600,"#
    + #""policy":"cache-with-network","live":true}"#

  /// The people: keys, 64 hexadecimal digits; 1 to ``keyMaximum``.
  public var keys: [String]
  /// In seconds: relays are not asked for a person for whom they were asked within this time, also when they had
  /// nothing. Default 0: they are asked now, or are being asked already.
  public var maxAge: Int64?
  /// `cache-only`: what is stored, no relay is asked. Default: `cache-with-network`.
  public var policy: ObservePolicy?
  /// Whether the request stays open for newer profiles until the caller cancels. Default: false.
  public var live: Bool?

  /// The most people of one request.
  public static let keyMaximum = 10_000

  /// A request for profiles.
  public init(keys: [String], maxAge: Int64? = nil, policy: ObservePolicy? = nil, live: Bool? = nil) {
    (self.keys, self.maxAge, self.policy, self.live) = (keys, maxAge, policy, live)
  }

  /// `maxAge` is at least 0.
  public static var ranges: [FieldRange<Self>] { [FieldRange("maxAge", \.maxAge)] }

  /// No keys, too many, or a policy that leaves out what is known.
  public var objection: String? {
    guard (1...Self.keyMaximum).contains(keys.count) else {
      return "'keys' has \(keys.count) keys; 1 to \(Self.keyMaximum) are taken"
    }
    return policy == .networkOnly
      ? "'policy' is 'network-only'; profiles are 'cache-only' or 'cache-with-network'" : nil
  }
}

/// A part of `people.profiles`: profiles, or that all relays have been asked.
public struct ProfilePage: Codable, Sendable, Hashable, Payload {
  /// Profiles, each complete; empty in the part that has ``asked``.
  public var profiles: [KnownProfile]
  /// Every relay has sent what it has, or is not expected to; comes once.
  public var asked: ProfilesAsked?

  /// The most bytes of a part, unless one profile has more.
  public static let byteTarget = 64 << 10

  /// A part.
  public init(profiles: [KnownProfile], asked: ProfilesAsked? = nil) {
    (self.profiles, self.asked) = (profiles, asked)
  }
}

/// How the network was asked for the people of a request.
public struct ProfilesAsked: Codable, Sendable, Hashable {
  /// For how many of the people relays were asked because of this request, or of another one at the same time.
  public var count: Int
  /// For how many relays should have been asked and could not be; absent: none.
  public var failed: Int?
  /// Why not.
  public var reason: String?

  /// An account of it.
  public init(count: Int, failed: Int? = nil, reason: String? = nil) {
    (self.count, self.failed, self.reason) = (count, failed, reason)
  }
}

/// What is known of one person's profile. Every text is a stranger's, except ``shownName``.
public struct KnownProfile: Codable, Sendable, Hashable {
  /// Whether there is a profile.
  public enum State: String, Codable, Sendable, Hashable, CaseIterable {
    /// There is one.
    case known
    /// None is stored, and no relay that was asked has sent one.
    case absent
    /// The newest event of kind 0 is not a profile: `fault` says why.
    case unreadable
  }
  /// The person's key, 64 hexadecimal digits.
  public var pubkey: String
  /// When relays were last asked for it, seconds since 1970; absent: not since the worker began.
  public var askedAt: Int64?
  /// What the name's server said of `nip05`, if that was asked within its time; absent: unknown. `people.name` asks.
  public var claim: ClaimVerdict?
  /// Whether there is a profile.
  public var state: State
  /// The name to show: the display name, else the name, else the name of the internet identifier, else the shortened
  /// `npub`. At most ``shownNameMaximum`` characters on one line; control and direction marks are written as escapes.
  public var shownName: String
  /// When the event was made, seconds since 1970; absent without one.
  public var createdAt: Int64?
  /// The name.
  public var name: String?
  /// The longer name.
  public var displayName: String?
  /// A few sentences.
  public var about: String?
  /// The address of a picture.
  public var picture: String?
  /// The address of a wide picture.
  public var banner: String?
  /// The address of a page.
  public var website: String?
  /// The internet identifier that the person claims (NIP-05); it proves nothing.
  public var nip05: String?
  /// The lightning address (LUD-16).
  public var lud16: String?
  /// Whether it says that its author is a program; absent: no.
  public var bot: Bool?
  /// Why the event is not a profile.
  public var fault: String?

  /// The most characters of ``shownName``.
  public static let shownNameMaximum = 64

  /// A profile without its fields.
  public init(pubkey: String, state: State, shownName: String) {
    (self.pubkey, self.state, self.shownName) = (pubkey, state, shownName)
  }
}

/// `people.find`: whom a person means by a few letters. Searched are petnames, display names, names, the name in an
/// internet identifier, and the beginning of an `npub` or of a key's digits; case and accents make no difference.
public struct PeopleFind: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"text":"bo","account":"alice","limit":20}"#

  /// The letters, 1 to ``textByteMaximum`` bytes.
  public var text: String
  /// The account whose follows come first: its name or its key. Absent: those of all accounts.
  public var account: String?
  /// The most people that are answered, 1 to ``limitMaximum``; default ``limitDefault``.
  public var limit: Int?

  /// The most bytes of the text.
  public static let textByteMaximum = 256
  /// The most people of an answer.
  public static let limitMaximum = 10_000
  /// How many people are answered unless the caller says it.
  public static let limitDefault = 20

  /// A search.
  public init(text: String, account: String? = nil, limit: Int? = nil) {
    (self.text, self.account, self.limit) = (text, account, limit)
  }

  /// The limit has bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("limit", from: 1, to: Int64(limitMaximum)) { $0.limit.map(Int64.init) }]
  }

  /// A text that is too long, or none.
  public var objection: String? {
    (1...Self.textByteMaximum).contains(text.utf8.count)
      ? nil : "'text' has \(text.utf8.count) bytes; 1 to \(Self.textByteMaximum) are taken"
  }
}

/// A part of `people.find`: some people, the most likely first.
public struct FoundPeople: Codable, Sendable, Hashable, Payload {
  /// The people.
  public var people: [FoundPerson]

  /// The most people of a part.
  public static let countMaximum = 100

  /// Some people.
  public init(people: [FoundPerson]) { self.people = people }
}

/// A person whom some letters may mean, and why.
public struct FoundPerson: Codable, Sendable, Hashable {
  /// What matched.
  public enum Field: String, Codable, Sendable, Hashable, CaseIterable {
    /// The name that an account gave the person in its follow list.
    case petname
    /// The display name.
    case displayName = "display-name"
    /// The name.
    case name
    /// The name in the internet identifier.
    case nip05
    /// The key.
    case key
    /// Another part of the profile.
    case profile
  }
  /// How it matched, the best first.
  public enum Way: String, Codable, Sendable, Hashable, CaseIterable {
    /// It is the same.
    case exact
    /// It begins so.
    case beginning
    /// One of its words begins so.
    case word
    /// It is inside of a word.
    case inside
  }
  /// The person's key, 64 hexadecimal digits.
  public var pubkey: String
  /// As in ``KnownProfile/shownName``.
  public var shownName: String
  /// Whether one of the accounts that were meant follows the person.
  public var isFollowed: Bool
  /// What matched.
  public var field: Field
  /// How it matched.
  public var way: Way
  /// The petname; a text of the account's own. Absent: none.
  public var petname: String?
  /// The internet identifier that the person claims; a stranger's text.
  public var nip05: String?

  /// A person.
  public init(pubkey: String, shownName: String, isFollowed: Bool, field: Field, way: Way) {
    (self.pubkey, self.shownName, self.isFollowed) = (pubkey, shownName, isFollowed)
    (self.field, self.way) = (field, way)
  }
}

/// `people.name`: whether an internet identifier (NIP-05) is a person's. The server of its domain is asked, unless its
/// answer is known: a key for a day, a failure for an hour.
///
/// Asking tells the server that its name is looked at here. So it is for a name that was typed, for a person who is
/// shown alone, and for people whom an account follows; never for a whole list of strangers.
public struct PeopleName: MethodArguments {
  /// An example of the arguments.
  public static let example =
    #"{"pubkey":"82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2","name":"bob@example.com"}"#

  /// The person's key, 64 hexadecimal digits.
  public var pubkey: String
  /// The name, `name@domain` or a domain. Absent: the one in the person's stored profile.
  public var name: String?

  /// A claim.
  public init(pubkey: String, name: String? = nil) { (self.pubkey, self.name) = (pubkey, name) }
}

/// What the server of a name says of a claim to it.
public enum ClaimVerdict: String, Codable, Sendable, Hashable, CaseIterable {
  /// The name leads to this key.
  case verified
  /// The name leads to another key.
  case another
  /// The server answers, but with no key for the name.
  case unknown
  /// The server was not reached.
  case unreachable
}

/// The answer of `people.name`.
public struct NameClaim: Codable, Sendable, Hashable, Payload {
  /// The name as it was looked up, in lower case.
  public var name: String
  /// The person's key, 64 hexadecimal digits.
  public var pubkey: String
  /// What its server says.
  public var verdict: ClaimVerdict
  /// The key that the name leads to, when it is another one.
  public var otherPubkey: String?
  /// Why the verdict is `unknown` or `unreachable`, as a sentence; it may have text of the server's.
  public var reason: String?
  /// When the server was asked, seconds since 1970.
  public var checkedAt: Int64

  /// A verdict.
  public init(name: String, pubkey: String, verdict: ClaimVerdict, checkedAt: Int64) {
    (self.name, self.pubkey, self.verdict, self.checkedAt) = (name, pubkey, verdict, checkedAt)
  }
}
