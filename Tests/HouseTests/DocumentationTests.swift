// A newcomer goes from the README to a room and must find it.
import Testing

@Suite("The documentation")
struct DocumentationTests {
  @Test("of the architecture names every room and every folder in it")
  func namesEveryFolder() throws {
    let architecture = try #require(SourceTree.file("docs/architecture.md"))
    for room in SourceTree.rooms {
      #expect(architecture.text.contains("`\(room)`"), "docs/architecture.md does not mention `\(room)`")
      for folder in SourceTree.folders(in: room) {
        let isNamed = architecture.text.contains("`\(folder)`")
        #expect(isNamed, "docs/architecture.md does not mention `\(folder)` of \(room)")
      }
    }
  }

  @Test("has no link inside the checkout that leads nowhere")
  func hasNoDeadLinks() {
    for file in SourceTree.files where file.kind == "md" {
      let folder = file.path.split(separator: "/").dropLast().joined(separator: "/")
      for link in localLinks(in: file.text) {
        let target = folder.isEmpty ? link : folder + "/" + link
        #expect(SourceTree.exists(target), "\(file) links to \(link)")
      }
    }
  }

  @Test("begins each page with one title")
  func beginsWithTitle() {
    for file in SourceTree.files where file.kind == "md" {
      #expect(file.text.hasPrefix("# "), "\(file)")
    }
  }

  @Test("is read with links as Markdown writes them")
  func isReadWithLinks() {
    let text = "See [a](docs/a.md#part) and [b](https://host/b), ![c](c.png) `[d](e)`\n```\n[f](g)\n```\n[h](#i)"
    #expect(localLinks(in: text) == ["docs/a.md", "c.png"])
  }
}

/// What the links of a Markdown text point to, without addresses on the net and places in the same page.
private func localLinks(in text: String) -> [String] {
  var links: [String] = []
  for (index, prose) in text.split(separator: "```", omittingEmptySubsequences: false).enumerated() where index % 2 == 0
  {
    for (index, words) in prose.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    where index % 2 == 0 {
      for piece in words.split(separator: "](", omittingEmptySubsequences: false).dropFirst() {
        let target = piece.prefix { $0 != ")" }.prefix { $0 != "#" }
        if !target.isEmpty && !target.contains(":") { links.append(String(target)) }
      }
    }
  }
  return links
}
