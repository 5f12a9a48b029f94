internal import Frames

/// The methods of the role `link-page`.
public enum PageMethod {
  /// Makes an address with which a browser comes in once.
  public static let enter = Method<PageEnter, PageAddress>(
    128, "page.enter", of: .linkPage, for: [.client],
    "Makes an address with which one browser comes in, once.", refuses: [.notListening])

  static let all: [MethodDeclaration] = [enter.declaration]
}
