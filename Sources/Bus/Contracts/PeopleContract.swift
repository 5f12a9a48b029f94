/// The answer of `people.status`.
public struct PeopleStatus: Codable, Sendable, Hashable, Payload {
  /// Lists of which versions are kept.
  public var lists: Int
  /// Versions that are kept.
  public var versions: Int
  /// Accepted edits that the publish queue does not have yet.
  public var waiting: Int

  /// Figures.
  public init(lists: Int, versions: Int, waiting: Int) {
    (self.lists, self.versions, self.waiting) = (lists, versions, waiting)
  }
}
