// How a link is shown and played. Providers are known by the exact name of the host and by the form of the path, never
// by a word that occurs somewhere: `youtube.com.evil.example` and `evil.example/youtube.com` are plain links. An
// embed's address is assembled from the video's id, not copied, so nothing of the stranger's text but letters and
// digits reaches a frame.
//
// A short link, as `vm.tiktok.com/…`, has no id; it can be extracted, and has no embed. A page of Rumble has another id
// than its player, which only Rumble's oEmbed answer names: such an embed is looked up after the click.

/// A provider of videos.
public enum LinkProvider: String, Hashable, Sendable, CaseIterable {
  /// TikTok.
  case tikTok = "TikTok"
  /// Instagram.
  case instagram = "Instagram"
  /// Facebook.
  case facebook = "Facebook"
  /// X, before it Twitter.
  case x = "X"
  /// YouTube.
  case youTube = "YouTube"
  /// Rumble.
  case rumble = "Rumble"
}

/// The official embed of a link.
public enum LinkEmbed: Hashable, Sendable {
  /// The address of the frame.
  case frame(LinkURL)
  /// The address of an oEmbed answer; ``LinkMedia/player(inAnswer:)`` finds the frame's address in it.
  case lookup(LinkURL)
}

/// What a link leads to, and how it is played.
public struct LinkMedia: Hashable, Sendable {
  /// How it is played.
  public enum Way: Hashable, Sendable {
    /// A program extracts the media file; if that fails, the embed is shown.
    case extraction
    /// Only the provider's embed is shown.
    case embed
    /// It is opened as a page.
    case page
  }

  /// How it is played.
  public let way: Way
  /// The provider; nil: none that is known.
  public let provider: LinkProvider?
  /// The official embed, over `https`; nil: the link itself is opened.
  public let embed: LinkEmbed?

  /// `Video` for what is extracted, otherwise `Link`.
  public var label: String { way == .extraction ? "Video" : "Link" }

  /// Classifies a link.
  public init(_ url: LinkURL) {
    self = Self.known(url, Self.bareHost(url.host), url.segments) ?? LinkMedia(.page, nil, nil)
  }

  private init(_ way: Way, _ provider: LinkProvider?, _ frame: String?) {
    (self.way, self.provider, embed) = (way, provider, frame.map { .frame(Self.made($0)) })
  }

  private init(lookup: String, _ provider: LinkProvider) {
    (way, self.provider, embed) = (.embed, provider, .lookup(Self.made(lookup)))
  }

  /// The most bytes that are read of an oEmbed answer.
  public static let answerByteCountMaximum = 65_536

  /// The player of Rumble that an oEmbed answer names; nil if it names none.
  public static func player(inAnswer answer: [UInt8]) -> LinkURL? {
    guard answer.count <= answerByteCountMaximum else { return nil }
    // The address is in the HTML of the answer, in which JSON may write slashes with a backslash.
    let text = String(decoding: answer.filter { $0 != UInt8(ascii: "\\") }, as: UTF8.self)
    guard let mark = text.firstRange(of: "https://rumble.com/embed/") else { return nil }
    let id = text[mark.upperBound...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return id.isEmpty || id.count > tokenLengthMaximum ? nil : made("https://rumble.com/embed/\(id)/")
  }

  // MARK: Providers

  /// Forms of a host that lead to the same pages.
  private static func bareHost(_ host: String) -> String {
    for prefix in ["www.", "m.", "mobile."] where host.hasPrefix(prefix) { return String(host.dropFirst(prefix.count)) }
    return host
  }

  private static func known(_ url: LinkURL, _ host: String, _ path: [Substring]) -> LinkMedia? {
    switch host {
    case "tiktok.com": tikTok(path)
    case "vm.tiktok.com", "vt.tiktok.com":
      path.count == 1 && isToken(path[0]) ? LinkMedia(.extraction, .tikTok, nil) : nil
    case "instagram.com", "instagr.am": instagram(path)
    case "facebook.com": facebook(path, url)
    case "fb.watch":
      path.count == 1 && isToken(path[0]) ? facebook(.embed, "https://fb.watch/\(path[0])/") : nil
    case "x.com", "twitter.com": x(path)
    case "youtube.com", "music.youtube.com", "youtube-nocookie.com": youTube(path, url)
    case "youtu.be": path.count == 1 ? youTube(path[0], url) : nil
    case "rumble.com": rumble(path)
    default: nil
    }
  }

  private static func tikTok(_ path: [Substring]) -> LinkMedia? {
    if path.count == 2, path[0] == "t", isToken(path[1]) { return LinkMedia(.extraction, .tikTok, nil) }
    let id: Substring? =
      switch (path.first, path.count) {
      case (let user?, 3) where user.hasPrefix("@") && path[1] == "video": path[2]
      case ("embed", 3) where path[1] == "v2": path[2]
      case ("player", 3) where path[1] == "v1": path[2]
      case ("embed", 2): path[1]
      case ("v", 2) where path[1].hasSuffix(".html"): path[1].dropLast(5)
      default: nil
      }
    guard let id, isNumber(id) else { return nil }
    return LinkMedia(.extraction, .tikTok, "https://www.tiktok.com/embed/v2/\(id)")
  }

  private static func instagram(_ path: [Substring]) -> LinkMedia? {
    if path.count == 3, path[0] == "share", path[1] == "reel", isToken(path[2]) {
      return LinkMedia(.extraction, .instagram, nil)
    }
    // A name may come first: /name/reel/code.
    guard let index = path.prefix(2).firstIndex(where: { ["reel", "reels", "p", "tv"].contains($0) }),
      path.count > index + 1, isToken(path[index + 1])
    else { return nil }
    let code = path[index + 1]
    return switch path[index] {
    // /reels/audio/… is the page of a sound.
    case "reel", "reels":
      code == "audio"
        ? nil : LinkMedia(.extraction, .instagram, "https://www.instagram.com/reel/\(code)/embed/")
    case let form: LinkMedia(.embed, .instagram, "https://www.instagram.com/\(form)/\(code)/embed/")
    }
  }

  private static func facebook(_ path: [Substring], _ url: LinkURL) -> LinkMedia? {
    let base = "https://www.facebook.com"
    if path.count == 3, path[0] == "share", isToken(path[2]) {
      switch path[1] {
      case "r": return facebook(.extraction, "\(base)/share/r/\(path[2])/")
      case "v": return facebook(.embed, "\(base)/share/v/\(path[2])/")
      default: return nil
      }
    }
    if path.count == 2, path[0] == "reel" || path[0] == "reels", isNumber(path[1]) {
      return facebook(.extraction, "\(base)/reel/\(path[1])/")
    }
    if path == ["watch"] || path == ["video.php"] {
      return url.queryValue("v").flatMap { isNumber($0) ? facebook(.embed, "\(base)/watch/?v=\($0)") : nil }
    }
    // /page/videos/id, and with the title before the id.
    guard (3...4).contains(path.count), path[1] == "videos", let id = path.last, isNumber(id), isToken(path[0]) else {
      return nil
    }
    return facebook(.embed, "\(base)/\(path[0])/videos/\(id)/")
  }

  private static func facebook(_ way: Way, _ page: String) -> LinkMedia {
    let address = "https://www.facebook.com/plugins/video.php?href=\(LinkURL.queryEscaped(page))&show_text=false"
    return LinkMedia(way, .facebook, address)
  }

  private static func x(_ path: [Substring]) -> LinkMedia? {
    let parts = path.starts(with: ["i", "web", "status"]) ? ["i"] + path.dropFirst(2) : path
    guard parts.count >= 3, isToken(parts[0]), ["status", "statuses"].contains(parts[1]), isNumber(parts[2]) else {
      return nil
    }
    let hasMedia = parts.count == 5 && isNumber(parts[4]) && ["video", "photo"].contains(parts[3])
    let media = hasMedia ? "/\(parts[3])/\(parts[4])" : ""
    let isVideo = hasMedia && parts[3] == "video"
    return LinkMedia(
      isVideo ? .extraction : .embed, .x, "https://fixupx.com/\(parts[0])/status/\(parts[2])\(media)")
  }

  private static func youTube(_ path: [Substring], _ url: LinkURL) -> LinkMedia? {
    if path == ["watch"] { return url.queryValue("v").flatMap { youTube($0, url) } }
    guard path.count == 2, ["shorts", "live", "embed", "v"].contains(path[0]) else { return nil }
    return youTube(path[1], url)
  }

  /// YouTube's player on the host where it sets no cookie before it is started.
  private static func youTube(_ id: Substring, _ url: LinkURL) -> LinkMedia? {
    guard id.utf8.count == 11, isToken(id), !id.contains(".") else { return nil }
    let start = (url.queryValue("t") ?? url.queryValue("start")).map { $0.hasSuffix("s") ? $0.dropLast() : $0 }
    let suffix = start.flatMap { isNumber($0) ? "?start=\($0)" : nil } ?? ""
    return LinkMedia(.embed, .youTube, "https://www.youtube-nocookie.com/embed/\(id)\(suffix)")
  }

  private static func rumble(_ path: [Substring]) -> LinkMedia? {
    if path.count == 2, path[0] == "embed", isToken(path[1]) {
      return LinkMedia(.embed, .rumble, "https://rumble.com/embed/\(path[1])/")
    }
    // A page is v, a number in letters, often the title: /v1abc2-a-title.html
    guard path.count == 1, path[0].hasPrefix("v"), path[0].hasSuffix(".html"), isToken(path[0], maximum: 200) else {
      return nil
    }
    let page = LinkURL.queryEscaped("https://rumble.com/\(path[0])")
    return LinkMedia(lookup: "https://rumble.com/api/Media/oembed.json?url=\(page)", .rumble)
  }

  // MARK: Forms

  /// The longest id or name of a provider, in bytes.
  private static let tokenLengthMaximum = 64

  private static func isNumber(_ text: Substring) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { $0 &- 0x30 < 10 }
  }

  private static func isToken(_ text: Substring, maximum: Int = tokenLengthMaximum) -> Bool {
    (1...maximum).contains(text.utf8.count)
      && text.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "-_.".utf8.contains($0) }
  }

  private static func made(_ text: String) -> LinkURL {
    do throws(LinkURLFault) { return try LinkURL(text) } catch {
      preconditionFailure("an embed's address is made of checked parts: \(error)")
    }
  }
}
