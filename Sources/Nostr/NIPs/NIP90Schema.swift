/// What form the results of some kinds of jobs have, as their descriptions promise it. A kind without a description
/// takes anything.
public enum JobSchema {
  /// What was found of a result.
  public enum Verdict: Hashable, Sendable {
    /// It has the form.
    case holds
    /// It has not; what was expected: `a list of tags "e" or "a", as JSON`.
    case broken(expected: String)
    /// There is no form for its kind, or it could not be looked at.
    case unknown
  }

  /// Looks at a result.
  ///
  /// - Parameters:
  ///   - content: in clear.
  ///   - kind: of the result, 6000 to 6999.
  public static func check(_ content: String, kind: UInt16) -> Verdict { .unknown }
}
