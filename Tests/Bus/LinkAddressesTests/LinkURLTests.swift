import Frames
import Testing

@testable import LinkAddresses

@Suite("Links") struct LinkURLTests {
  @Test(
    "have one spelling",
    arguments: [
      (" https://example.com/path?q=1 ", "https://example.com/path?q=1"), ("http://example.com", "http://example.com"),
      ("HTTPS://Example.COM:443/A", "https://example.com/A"), ("http://a.b:80", "http://a.b"),
      ("https://a.b:8443/x", "https://a.b:8443/x"), ("https://[2001:DB8:0::1]:443/", "https://[2001:db8::1]/"),
      ("https://de.wikipedia.org/wiki/Käse?x=ü#ö", "https://de.wikipedia.org/wiki/K%C3%A4se?x=%C3%BC#%C3%B6"),
      ("https://a.b/\"><b>'", "https://a.b/%22%3E%3Cb%3E'"), ("https://a.b/100%", "https://a.b/100%25"),
      ("https://a.b/%e4%2", "https://a.b/%e4%252"), ("https://a.b/@user/x?a[]=1", "https://a.b/@user/x?a[]=1"),
      ("\nhttps://a.b/\t", "https://a.b/"), ("http://192.0.2.1/", "http://192.0.2.1/"),
      ("https://a.b?u=https://c.d/", "https://a.b?u=https://c.d/"),
    ])
  func normalised(text: String, spelling: String) throws {
    let url = try LinkURL(text)
    #expect(url.text == spelling)
    #expect(try LinkURL(url.text) == url, "the spelling is its own")
  }

  @Test(
    "are refused when another program could read them in another way, or not at all",
    arguments: [
      ("", LinkURLFault.empty), (" \n", .empty), ("https://", .noHost), ("https:///path", .noHost),
      ("not-a-url", .scheme(nil)), ("example.com/x", .scheme(nil)), ("ftp://example.com/file", .scheme("ftp")),
      ("mailto:test@example.com", .scheme("mailto")), ("javascript:alert(1)", .scheme("javascript")),
      ("JavaScript://example.com/%0aalert(1)", .scheme("javascript")), ("data:text/html,x", .scheme("data")),
      ("file:///etc/passwd", .scheme("file")), ("https:example.com", .scheme(nil)),
      ("https:/example.com", .scheme(nil)),
      ("java\nscript:alert(1)", .hiddenCharacter), ("https://user:secret@example.com/", .credentials),
      ("https://example.com@evil.example/", .credentials), ("https://good.example\\@evil.example/", .backslash),
      ("https://exa mple.com/", .hiddenCharacter), ("https://a.b/x\u{0}", .hiddenCharacter),
      ("https://a.b/\u{202E}moc", .hiddenCharacter), ("https://a.b/\u{200B}", .hiddenCharacter),
      ("https://a.b/\u{A0}x", .hiddenCharacter), ("https://a.b:0/", .badPort), ("https://a.b:/", .badPort),
      ("https://a.b:65536/", .badPort), ("https://a.b:8x/", .badPort),
      ("https://a..b/", .badHost), ("https://a.b./", .badHost), ("https://[::1/", .badHost),
      ("https://[fe80::1%25eth0]/", .badHost), ("https://127.1/", .badHost), ("https://0x7f.0.0.1/", .badHost),
      ("https://2130706433/", .badHost), ("https://exämple.com/", .badHost), ("https://\u{212A}.example/", .badHost),
      ("https://youtube.com\u{2215}evil.example/", .badHost),
    ])
  func refused(text: String, fault: LinkURLFault) {
    #expect(throws: fault) { try LinkURL(text) }
    #expect(!fault.description.isEmpty && !fault.description.contains("secret"))
  }

  @Test("are bounded, as they are given and as they are written")
  func bounded() throws {
    let head = "https://a.b/"
    let longest = head + String(repeating: "x", count: LinkURL.byteCountMaximum - head.utf8.count)
    #expect(try LinkURL(longest).text == longest)
    #expect(throws: LinkURLFault.tooLong(byteCount: 4_097)) { try LinkURL(longest + "x") }
    #expect(throws: LinkURLFault.self) { try LinkURL(head + String(repeating: "ü", count: 1_000)) }
  }

  @Test("to media files are taken over https only")
  func media() throws {
    #expect(try LinkURL.media("https://cdn.example/v.mp4").isSecure)
    #expect(throws: LinkURLFault.notSecure) { try LinkURL.media("http://cdn.example/v.mp4") }
    #expect(throws: LinkURLFault.scheme("blob")) { try LinkURL.media("blob:https://x.example/1") }
  }
}
