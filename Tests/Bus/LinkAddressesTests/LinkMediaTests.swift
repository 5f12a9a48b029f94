import Testing

@testable import LinkAddresses

@Suite("What a link leads to") struct LinkMediaTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let url: String, way: LinkMedia.Way, provider: LinkProvider?, embed: String?
    init(_ url: String, _ way: LinkMedia.Way, _ provider: LinkProvider?, _ embed: String?) {
      (self.url, self.way, self.provider, self.embed) = (url, way, provider, embed)
    }
    var testDescription: String { url }
  }

  static let reel = "https://www.facebook.com/plugins/video.php?href=https%3A%2F%2Fwww.facebook.com%2F"
  static let extracted: [Case] = [
    Case("https://www.tiktok.com/@a.b/video/7123", .extraction, .tikTok, "https://www.tiktok.com/embed/v2/7123"),
    Case("http://m.tiktok.com/v/7123.html?x=1", .extraction, .tikTok, "https://www.tiktok.com/embed/v2/7123"),
    Case("https://tiktok.com/embed/v2/7123", .extraction, .tikTok, "https://www.tiktok.com/embed/v2/7123"),
    Case("https://vm.tiktok.com/ZMabc/", .extraction, .tikTok, nil),
    Case("https://www.tiktok.com/t/ZMabc/", .extraction, .tikTok, nil),
    Case(
      "https://www.instagram.com/reel/C1_a-b/?igsh=x", .extraction, .instagram,
      "https://www.instagram.com/reel/C1_a-b/embed/"),
    Case(
      "https://instagram.com/someone/reels/C1", .extraction, .instagram, "https://www.instagram.com/reel/C1/embed/"),
    Case("https://m.facebook.com/reel/123?s=1", .extraction, .facebook, reel + "reel%2F123%2F&show_text=false"),
    Case("https://www.facebook.com/share/r/AbC/", .extraction, .facebook, reel + "share%2Fr%2FAbC%2F&show_text=false"),
    Case("https://x.com/a_b/status/12/video/1", .extraction, .x, "https://fixupx.com/a_b/status/12/video/1"),
    Case(
      "https://mobile.twitter.com/i/web/status/12/video/1?s=20", .extraction, .x,
      "https://fixupx.com/i/status/12/video/1"),
  ]
  static let embedded: [Case] = [
    Case(
      "https://www.youtube.com/watch?list=x&v=abcdefghi-_&t=90s", .embed, .youTube,
      "https://www.youtube-nocookie.com/embed/abcdefghi-_?start=90"),
    Case(
      "https://m.youtube.com/shorts/abcdefghijk", .embed, .youTube,
      "https://www.youtube-nocookie.com/embed/abcdefghijk"),
    Case(
      "https://youtu.be/abcdefghijk?si=x", .embed, .youTube, "https://www.youtube-nocookie.com/embed/abcdefghijk"),
    Case("https://rumble.com/embed/v5pv5f/?pub=4", .embed, .rumble, "https://rumble.com/embed/v5pv5f/"),
    Case("https://instagram.com/p/C1/", .embed, .instagram, "https://www.instagram.com/p/C1/embed/"),
    Case("https://www.instagram.com/tv/C1/", .embed, .instagram, "https://www.instagram.com/tv/C1/embed/"),
    Case("https://www.facebook.com/watch/?v=12", .embed, .facebook, reel + "watch%2F%3Fv%3D12&show_text=false"),
    Case(
      "https://facebook.com/page/videos/a-title/12/", .embed, .facebook,
      reel + "page%2Fvideos%2F12%2F&show_text=false"),
    Case("https://twitter.com/a/status/12?s=20", .embed, .x, "https://fixupx.com/a/status/12"),
    Case("https://x.com/a/status/12/photo/2", .embed, .x, "https://fixupx.com/a/status/12/photo/2"),
    Case("https://x.com/a/status/12/video", .embed, .x, "https://fixupx.com/a/status/12"),
  ]
  static let pages: [Case] = [
    "https://example.com/watch?v=abcdefghijk", "https://evil-youtube.com/watch?v=abcdefghijk",
    "https://youtube.com.evil.example/watch?v=abcdefghijk", "https://evil.example/youtube.com/watch?v=abcdefghijk",
    "https://www.m.youtube.com/watch?v=abcdefghijk", "https://xyoutu.be/abcdefghijk",
    "https://youtube.com/watch?v=abc\"onload", "https://youtube.com/watch?v=abcdefghijkl",
    "https://youtube.com/@someone",
    "https://notx.com/a/status/12/video/1", "https://x.com.evil.example/a/status/12/video/1", "https://x.com/a",
    "https://x.com/a/status/12x/video/1", "https://tiktok.com/@a", "https://tiktok.com/@a/video/12%22",
    "https://tiktok.com/video/12", "https://instagram.com/someone/", "https://instagram.com/reels/audio/1",
    "https://instagram.com/reel/", "https://facebook.com/someone", "https://facebook.com/watch/?v=x",
    "https://rumble.com/c/channel", "https://rumble.com/videos", "https://fixupx.com/a/status/12/video/1",
  ].map { Case($0, .page, nil, nil) }

  @Test("is known by the exact host and the form of the path", arguments: extracted + embedded + pages)
  func classes(test: Case) throws {
    let media = LinkMedia(try LinkURL(test.url))
    #expect(media.way == test.way && media.provider == test.provider)
    #expect(media.embed == (try test.embed.map { .frame(try LinkURL($0)) }))
    #expect(media.label == (test.way == .extraction ? "Video" : "Link"))
  }

  @Test("A page of Rumble has its player looked up, and nothing but a player is taken from the answer")
  func rumble() throws {
    let media = LinkMedia(try LinkURL("https://www.rumble.com/v1abc2-a-title.html?e9s=x"))
    let address = "https://rumble.com/api/Media/oembed.json?url=https%3A%2F%2Frumble.com%2Fv1abc2-a-title.html"
    #expect(media.way == .embed && media.provider == .rumble)
    #expect(media.embed == .lookup(try LinkURL(address)))
    let answer = #"{"html":"<iframe src=\"https:\/\/rumble.com\/embed\/v9xyz\/\" width=\"1\"><\/iframe>"}"#
    #expect(LinkMedia.player(inAnswer: Array(answer.utf8))?.text == "https://rumble.com/embed/v9xyz/")
    for bad in ["", "{}", #"{"html":"<iframe src=https://evil.example/embed/v9>"}"#, "https://rumble.com/embed/\"x"] {
      #expect(LinkMedia.player(inAnswer: Array(bad.utf8)) == nil)
    }
    let long = answer + String(repeating: " ", count: LinkMedia.answerByteCountMaximum)
    #expect(LinkMedia.player(inAnswer: Array(long.utf8)) == nil)
  }
}
