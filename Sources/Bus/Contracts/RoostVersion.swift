/// The version of the programs of this package.
public enum RoostVersion {
  /// `0.2.0`
  public static let text = "0.2.0"
}
