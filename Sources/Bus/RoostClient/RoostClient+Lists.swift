public import Contracts
public import Frames

// Lists: profiles, whom one follows, what one mutes, one's relays, and sets. A list is never written whole: an
// application says what is to be different, and the worker `people` makes it so on the newest version.

extension RoostClient {
  /// How long an edit may take: relays are asked for the newest version first, in milliseconds.
  static let editMilliseconds: UInt32 = 60_000

  /// A version of a list of an account, with its entries.
  ///
  /// - Throws: `no-such-account`; `no-such-event` for a version that is not kept; `unavailable` when no worker `people`
  ///   runs.
  public func list(_ wanted: PeopleList) async throws(Refusal) -> KnownList {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.editMilliseconds)
    do throws(Refusal) { return try await request(PeopleMethod.list, wanted, options: options) } catch {
      throw explainedPeople(error)
    }
  }

  /// Changes a list. When this returns, the new version is signed and on disk, and on its way to relays: its progress
  /// is that of the publication with its id. After `outcome` `unknown` the caller may repeat it: what is there already
  /// is not changed again.
  ///
  /// - Throws: `not-fresh` when too few relays have said what the newest version is; `would-replace` when the list
  ///   would lose a quarter of itself; `bad-request` with the reason; `locked`; `disk-full`.
  public func edit(_ wanted: PeopleEdit) async throws(Refusal) -> EditedList {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.editMilliseconds)
    do throws(Refusal) { return try await request(PeopleMethod.edit, wanted, options: options) } catch {
      throw explainedPeople(error)
    }
  }

  /// The versions of a list that are kept, the newest first.
  public func versions(_ wanted: PeopleVersions) async throws(Refusal) -> [ListVersionRow] {
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.editMilliseconds)
    do throws(Refusal) { return try await stream(PeopleMethod.versions, wanted, options: options).collect() } catch {
      throw explainedPeople(error)
    }
  }

  /// Explains a refusal that means that no worker `people` is configured.
  func explainedPeople(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .people, "which changes lists and knows profiles")
  }
}
