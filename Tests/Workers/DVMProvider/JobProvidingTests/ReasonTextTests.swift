import JobProviding
import Testing

@Suite("What is left out of a reason")
struct LocalPathTests {
  @Test(
    "Paths of this machine are, with all that belongs to them",
    arguments: [
      ("/home/alice/jobs/shorten.py: Permission denied", "…: Permission denied"),
      ("No such file or directory: '/home/alice/My Models/a.bin'", "No such file or directory: '…'"),
      ("open(\"/srv/x\") failed, /srv/y too", "open(\"…\") failed, … too"),
      ("cannot read ~/model and file:///srv/a/b", "cannot read … and …"),
      ("lstat /a/b:/c/d", "lstat …:…"),
      ("MODEL=/srv/models/small is no model", "MODEL=… is no model"),
      ("/", "/"), ("/x", "…"), ("''/x", "''…"),
    ])
  func leftOut(text: String, shown: String) {
    #expect(text.withoutLocalPaths == shown)
  }

  @Test(
    "Addresses and other words with slashes stay",
    arguments: [
      "https://example.com/a/b is away", "an input of type text/plain is missing", "1/2 of it", "and / or", "and/or",
      "see wss://relay.example/path?x=/y", "", "~", "a // b",
    ])
  func stay(text: String) {
    #expect(text.withoutLocalPaths == text)
  }
}
