/// A file that a browser gets.
public struct PageFile: Sendable {
  /// Its bytes.
  public let bytes: [UInt8]
  /// Its media type.
  public let type: String

  /// What a browser gets that has not come in with an address.
  public static let entry = PageFile(bytes: PackageResources.entry_html, type: "text/html; charset=utf-8")

  /// The file of a path; nil: no such file.
  public static func named(_ path: String) -> PageFile? { files[path] }

  private static let files = [
    "/": PageFile(bytes: PackageResources.links_html, type: "text/html; charset=utf-8"),
    "/links.css": PageFile(bytes: PackageResources.links_css, type: "text/css; charset=utf-8"),
    "/links.js": script(PackageResources.links_js), "/parts.js": script(PackageResources.parts_js),
    "/views.js": script(PackageResources.views_js), "/dialogs.js": script(PackageResources.dialogs_js),
    "/icon.svg": PageFile(bytes: PackageResources.icon_svg, type: "image/svg+xml"),
  ]

  private static func script(_ bytes: [UInt8]) -> PageFile {
    PageFile(bytes: bytes, type: "text/javascript; charset=utf-8")
  }

  /// Whether a path is only looks, which a browser needs for the page without a session too.
  public static func isOpen(_ path: String) -> Bool { path == "/links.css" || path == "/icon.svg" }
}
