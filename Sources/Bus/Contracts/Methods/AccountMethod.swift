/// The method that each worker serves that keeps something for single accounts (``Role/withAccountData``). A caller
/// names the worker by its endpoint.
public enum AccountMethod {
  /// Removes everything that belongs to one account alone.
  public static let forget = Method<AccountForget, AccountForgotten>(
    196, "account.forget", of: .worker, for: [.people],
    "Removes everything that the worker keeps for one account alone. Repeating it does no harm.")

  static let all: [MethodDeclaration] = [forget.declaration]
}
