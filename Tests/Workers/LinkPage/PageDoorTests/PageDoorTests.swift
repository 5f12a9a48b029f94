import Testing
import WebSocket

@testable import PageDoor

@Suite("The door of the page of links") struct PageDoorTests {
  /// A door with shorthands, whose changes may be expected.
  private final class Entrance {
    var door = PageDoor()
    func invite(_ now: Int64) -> String { door.invite(at: now) }
    func enter(_ secret: String, _ now: Int64) -> String? { door.enter(secret, at: now) }
    func isInside(_ cookie: String, _ now: Int64) -> Bool { door.isInside(cookie, at: now) }
  }

  @Test("An address is used once, and what it gives lets a browser in")
  func once() throws {
    let door = Entrance()
    let secret = door.invite(100)
    #expect(secret.utf8.count == 43)
    let cookie = try #require(door.enter(secret, 101))
    #expect(door.enter(secret, 102) == nil, "a stolen address that was used")
    #expect(door.isInside(cookie, 103))
    for wrong in [secret, "", cookie + "A", String(cookie.dropLast())] { #expect(!door.isInside(wrong, 103)) }
    #expect(door.enter(cookie, 103) == nil)
  }

  @Test("An address is too old after ten minutes, a browser is out after twelve hours without a sign")
  func ages() throws {
    let door = Entrance()
    #expect(door.enter(door.invite(0), PageDoor.invitationSeconds) == nil)
    let cookie = try #require(door.enter(door.invite(1_000), 1_000))
    let half = PageDoor.sessionSeconds
    #expect(door.isInside(cookie, 1_000 + half - 1), "which counts as a sign")
    #expect(door.isInside(cookie, 1_000 + 2 * half - 2))
    #expect(!door.isInside(cookie, 1_000 + 3 * half))
  }

  @Test("Addresses and browsers are bounded: the oldest leaves")
  func bounds() throws {
    let door = Entrance()
    let first = door.invite(0)
    for _ in 0..<PageDoor.invitationMaximum { _ = door.invite(1) }
    #expect(door.enter(first, 2) == nil)
    let used = try #require(door.enter(door.invite(3), 3))
    let idle = try #require(door.enter(door.invite(4), 4))
    #expect(door.isInside(used, 5))
    for _ in 0..<(PageDoor.sessionMaximum - 1) { _ = door.enter(door.invite(6), 6) }
    #expect(door.isInside(used, 7))
    #expect(!door.isInside(idle, 7))
  }

  @Test("A request is the page's own by its Host, its Origin and a cookie")
  func addressing() throws {
    let page = PageAddressing(host: "127.0.0.1", port: 4_868)
    func head(_ lines: String...) throws -> HTTPRequestHead {
      var reader = HTTPRequestReader()
      let text = (["GET / HTTP/1.1"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
      let head = try Array(text.utf8).withUnsafeBytes { try reader.receive($0).head }
      return try #require(head)
    }
    #expect(page.isOurs(try head("Host: 127.0.0.1:4868")))
    for host in ["localhost:4868", "127.0.0.1", "127.0.0.1:4869", "evil.example:4868", "127.0.0.1.evil.example:4868"] {
      #expect(!page.isOurs(try head("Host: \(host)")), "\(host)")
    }
    #expect(page.isFromPage(try head("Host: a", "Origin: http://127.0.0.1:4868")))
    for origin in ["http://127.0.0.1:4869", "https://127.0.0.1:4868", "null", "http://evil.example"] {
      #expect(!page.isFromPage(try head("Host: a", "Origin: \(origin)")), "\(origin)")
    }
    #expect(!page.isFromPage(try head("Host: a")))
    #expect(page.cookies(in: try head("Host: a", "Cookie: x=1; roost-links-4868=abc; y=2")) == ["abc"])
    // Another server of this machine can add its own, and must not lock the browser out.
    #expect(page.cookies(in: try head("Host: a", "Cookie: roost-links-4868=a; roost-links-4868=b")) == ["a", "b"])
    let many = (0..<20).map { "roost-links-4868=\($0)" }.joined(separator: "; ")
    #expect(page.cookies(in: try head("Host: a", "Cookie: \(many)")).count == PageAddressing.cookieMaximum)
    #expect(page.cookies(in: try head("Host: a", "Cookie: roost-links-4869=a")).isEmpty)
    #expect(page.setCookie("abc").value == "roost-links-4868=abc; Path=/; HttpOnly; SameSite=Strict")
    #expect(PageAddressing(host: "::1", port: 4_868).origin == "http://[::1]:4868")
  }

  @Test("Every answer forbids scripts and frames of others")
  func policy() throws {
    let fields = PageAddressing(host: "127.0.0.1", port: 1).fields
    let policy = try #require(fields.first { $0.name == "Content-Security-Policy" }).value
    for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"] {
      #expect(policy.contains(rule), "\(rule)")
    }
    #expect(!policy.contains("unsafe") && !policy.contains("*"))
  }
}
