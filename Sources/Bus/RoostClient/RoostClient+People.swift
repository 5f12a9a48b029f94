public import Contracts
public import Cryptography
public import Frames

// People: their profiles, whom some letters mean, and what a name (NIP-05) leads to.

extension RoostClient {
  /// How long a server of names may take, in milliseconds: the connector itself gives up after 5 s.
  private static let nameMilliseconds: UInt32 = 15_000

  /// Profiles of people: those that are known at once, then each that relays send, and with `isLive` each newer one
  /// without an end.
  ///
  /// - Parameters:
  ///   - keys: 1 to `PeopleProfiles.keyMaximum` people.
  ///   - maxAgeSeconds: relays are not asked for people for whom they were asked within this time; nil: they are asked.
  ///   - policy: `cache-only`: no relay is asked.
  ///   - isLive: whether the sequence stays open.
  public nonisolated func profiles(
    _ keys: [PublicKey], maxAgeSeconds: Int64? = nil, policy: ObservePolicy? = nil, isLive: Bool = false
  ) -> ProfileSequence {
    ProfileSequence(
      client: self,
      wanted: PeopleProfiles(
        keys: keys.map { "\($0)" }, maxAge: maxAgeSeconds, policy: policy, live: isLive ? true : nil))
  }

  /// Whom a person means by a few letters, the most likely first; those whom the accounts follow come before all
  /// others.
  ///
  /// - Parameters:
  ///   - text: 1 to `PeopleFind.textByteMaximum` bytes; case and accents make no difference.
  ///   - account: the account whose follows come first; nil: those of all accounts.
  ///   - limit: at most so many, up to `PeopleFind.limitMaximum`; `PeopleFind.limitDefault` when nil.
  public func find(_ text: String, for account: String? = nil, limit: Int? = nil) async throws(Refusal) -> [FoundPerson]
  {
    let wanted = PeopleFind(text: text, account: account, limit: limit)
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.editMilliseconds)
    do throws(Refusal) {
      return try await stream(PeopleMethod.find, wanted, options: options).collect().flatMap(\.people)
    } catch {
      throw explainedPeople(error)
    }
  }

  /// Whether an internet identifier is a person's. Its server is asked, unless its answer is known, and learns that the
  /// name is looked at: so it is for names that were typed and people who are shown alone, not for lists of strangers.
  ///
  /// - Parameters:
  ///   - name: `name@domain` or a domain; nil: the one in the person's stored profile.
  ///   - key: the person.
  /// - Throws: `no-such-name` when the profile has none, `rate-limited`, `bad-request`.
  public func claim(_ name: String? = nil, of key: PublicKey) async throws(Refusal) -> NameClaim {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.nameMilliseconds)
    do throws(Refusal) {
      return try await request(PeopleMethod.name, PeopleName(pubkey: "\(key)", name: name), options: options)
    } catch {
      throw explainedPeople(error)
    }
  }

  /// The key and the relays that a name leads to: the word of the name's server. The relays are foreign.
  ///
  /// - Throws: `no-such-name`, `name-unreachable`, `rate-limited`, `bad-request`.
  public func resolve(_ name: String) async throws(Refusal) -> ResolvedName {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.nameMilliseconds)
    return try await request(RelayMethod.resolveName, NameResolve(name: name), options: options)
  }

  /// How many lists and versions are kept, and how many edits wait for the publish queue.
  public func peopleStatus() async throws(Refusal) -> PeopleStatus {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.editMilliseconds)
    do throws(Refusal) { return try await request(PeopleMethod.status, NoArguments(), options: options) } catch {
      throw explainedPeople(error)
    }
  }
}

/// Profiles as they come. Made by ``RoostClient/profiles(_:maxAgeSeconds:policy:isLive:)``.
///
/// Each element is a page of profiles, or says once that all relays have been asked. A profile that the reader has is
/// not repeated after an interruption; one that has changed meanwhile comes. It ends after the last relay has been
/// asked, unless it is live, or when its task is cancelled; with a `Refusal` when the worker refuses.
public struct ProfileSequence: AsyncSequence, Sendable {
  /// Some profiles, or the account of what was asked.
  public typealias Element = ProfilePage
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let wanted: PeopleProfiles

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: ProfileReader(client, wanted)) }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: ProfileReader

    /// The next page; nil at the end, and when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ProfilePage? {
      try await reader.next()
    }
  }
}
