import Testing

@testable import RoostConfiguration

/// The values of `text`, as one inline table.
func values(_ text: String) throws -> String {
  "\(ConfigurationValue.table(try TOMLReader.document(of: Array(text.utf8)).tree))"
}

@Suite("TOML that is accepted, rule by rule")
struct TOMLValidTests {
  private func value(_ written: String) throws -> ConfigurationValue? {
    try TOMLReader.document(of: Array("a = \(written)\n".utf8)).tree["a"]
  }

  @Test(
    "Documents",
    arguments: [
      ("", "{}"), ("\n \t\r\n# only a remark, with ] and \"", "{}"), ("\u{FEFF}a = 1", "{ a = 1 }"),
      ("\u{FEFF}", "{}"), ("a=1#remark é\r\nb\t=\t2 # \u{85}", "{ a = 1, b = 2 }"),
    ])
  func documents(text: String, expected: String) throws {
    #expect(try values(text) == expected)
  }

  @Test(
    "Keys",
    arguments: [
      ("Az09-_ = 1", "{ Az09-_ = 1 }"), ("1234 = 1", "{ 1234 = 1 }"), ("- = 1\n_ = 2", "{ - = 1, _ = 2 }"),
      ("3.14 = 1", "{ 3 = { 14 = 1 } }"), ("\"\" = 1", "{ \"\" = 1 }"), ("'' = 1", "{ \"\" = 1 }"),
      ("\"a b\\t\" = 1", "{ \"a b\\t\" = 1 }"), ("'a\\t' = 1", "{ \"a\\\\t\" = 1 }"), ("\"ø\" = 1", "{ \"ø\" = 1 }"),
      ("a . \"b.c\"\t. 'd' = 1", "{ a = { \"b.c\" = { d = 1 } } }"), ("true = 1\ninf = 2", "{ inf = 2, true = 1 }"),
      ("a.b = 1\nc = 2\na.d = 3", "{ a = { b = 1, d = 3 }, c = 2 }"),
      ("a.b.c = 1\na.b.d = 2\na.e = 3", "{ a = { b = { c = 1, d = 2 }, e = 3 } }"),
    ])
  func keys(text: String, expected: String) throws {
    #expect(try values(text) == expected)
  }

  @Test(
    "Strings on one line",
    arguments: [
      (#""""#, ""), ("''", ""), (#""a 'b' # c""#, "a 'b' # c"), (#"'a "b" \n'"#, #"a "b" \n"#), ("\"a\tb\"", "a\tb"),
      (#""\b\t\n\f\r\"\\""#, "\u{8}\t\n\u{C}\r\"\\"), (#""\u00e9\u00E9\U0001fab6""#, "éé🪶"),
      (#""\u0000\u007F""#, "\u{0}\u{7F}"), (#""\uD7FF\uE000\U0010FFFF""#, "\u{D7FF}\u{E000}\u{10FFFF}"),
      ("\"\u{85}\u{2028}\"", "\u{85}\u{2028}"),
    ])
  func strings(written: String, expected: String) throws {
    #expect(try value(written) == .string(expected))
  }

  @Test(
    "Strings over several lines",
    arguments: [
      ("\"\"\"\"\"\"", ""), ("''''''", ""), ("\"\"\"\na\n\nb\n\"\"\"", "a\n\nb\n"), ("'''\n\na'''", "\na"),
      ("\"\"\"\r\na\r\nb\"\"\"", "a\nb"), ("'''\r\na\r\nb'''", "a\nb"), ("\"\"\"a \\\n   b\"\"\"", "a b"),
      ("\"\"\"\\\n  a \\ \t\r\n\r\n \n\tb\\\n\"\"\"", "a b"), ("'''a \\\n b'''", "a \\\n b"),
      ("\"\"\"\"a\"\"\"", "\"a"), ("\"\"\"\"\"a\"\"\"\"", "\"\"a\""), ("\"\"\"a\"\"\"\"\"", "a\"\""),
      ("''''a'''''", "'a''"), ("\"\"\"a\"\"\\\"\"\"\"\"", "a\"\"\"\""), ("\"\"\"\\\"\"\"\\\"\"\"\"", "\"\"\"\""),
      ("'''\"\"\"'''", "\"\"\""), ("\"\"\"'''\\u0041\"\"\"", "'''A"), ("\"\"\"\"\"\"\"\"", "\"\""), ("'''''''", "'"),
    ])
  func longStrings(written: String, expected: String) throws {
    #expect(try value(written) == .string(expected))
  }

  @Test(
    "Integers",
    arguments: [
      ("0", 0), ("+0", 0), ("-0", 0), ("+99", 99), ("-17", -17), ("1_000", 1_000), ("1_2_3", 123),
      ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("0xDEADBEEF", 0xDEAD_BEEF),
      ("0xdead_beef", 0xDEAD_BEEF), ("0x00ff", 255), ("0o01234567", 0o1234567), ("0o7_5_5", 0o755),
      ("0b1101_0110", 214),
      ("0x7fffffffffffffff", Int.max), ("0b0", 0),
    ])
  func integers(written: String, expected: Int) throws {
    #expect(try value(written) == .integer(expected))
  }

  @Test(
    "Numbers",
    arguments: [
      ("+1.0", 1), ("3.1415", 3.1415), ("-0.01", -0.01), ("5e+22", 5e22), ("1e06", 1e6), ("-2E-2", -0.02),
      ("6.626e-34", 6.626e-34), ("224_617.445_991_228", 224_617.445991228), ("1_0e1_0", 10e10), ("0e0", 0), ("0.0", 0),
      ("inf", .infinity), ("+inf", .infinity), ("-inf", -.infinity),
      ("1.7976931348623157e308", .greatestFiniteMagnitude),
      ("5e-324", .leastNonzeroMagnitude), ("1e-400", 0),
    ])
  func numbers(written: String, expected: Double) throws {
    #expect(try value(written) == .number(expected))
  }

  @Test("Minus zero keeps its sign, and nan is none", arguments: ["nan", "+nan", "-nan"])
  func oddNumbers(written: String) throws {
    guard case .number(let zero)? = try value("-0.0"), case .number(let nan)? = try value(written) else {
      return #expect(Bool(false), "not numbers")
    }
    #expect(zero.sign == .minus && zero == 0 && nan.isNaN)
  }

  @Test(
    "Dates and times are recognised and left out",
    arguments: [
      "1979-05-27T07:32:00Z", "1979-05-27T00:32:00-07:00", "1979-05-27t00:32:00.999999+23:59", "1979-05-27 07:32:00z",
      "1979-05-27T07:32:00", "1979-05-27 00:32:00.5", "1979-05-27", "07:32:00", "00:32:00.999999", "2000-02-29",
      "2024-02-29", "0000-01-01", "1990-12-31T23:59:60Z", "2023-12-31",
    ])
  func dates(written: String) throws {
    let document = try TOMLReader.document(of: Array("a = [1, \(written) ] # end\nb = \(written)".utf8))
    #expect(document.tree == ["a": .array([.integer(1)])])
    #expect(Set(document.dates.map(\.description)) == ["a[1]", "b"])
  }

  @Test(
    "Arrays and inline tables",
    arguments: [
      ("a = []", "{ a = [] }"), ("a = [ ]", "{ a = [] }"), ("a = [1, 'x', [true,],]", "{ a = [1, \"x\", [true]] }"),
      ("a = [ # one ]\n1 # two\n, # three\n2 # four\n, ]", "{ a = [1, 2] }"), ("a = [\r\n1,\r\n]", "{ a = [1] }"),
      ("a = {}", "{ a = {} }"), ("a = { }", "{ a = {} }"),
      ("a={b=1,c.d=2,c.e=3}", "{ a = { b = 1, c = { d = 2, e = 3 } } }"),
      ("a = { b = [\n1,\n2 # x\n], c = '''\n\n''' }", "{ a = { b = [1, 2], c = \"\\n\" } }"),
      ("a = [{b = 1}, {b = 2, c = {}}]", "{ a = [{ b = 1 }, { b = 2, c = {} }] }"),
      ("a = { \"b c\" = 1 , 'd' . e = 2 }", "{ a = { \"b c\" = 1, d = { e = 2 } } }"),
    ])
  func brackets(text: String, expected: String) throws {
    #expect(try values(text) == expected)
  }

  @Test(
    "Tables and arrays of tables",
    arguments: [
      ("[a]\nb = 1\n[c]", "{ a = { b = 1 }, c = {} }"), ("[ a . \"b\" ]\t# x", "{ a = { b = {} } }"),
      ("[a.b]\nx = 1\n[a]\ny = 2", "{ a = { b = { x = 1 }, y = 2 } }"),
      ("[a.b.c]\n[a]\nb.d = 1", "{ a = { b = { c = {}, d = 1 } } }"),
      ("a.b = 1\n[a.c]\nd = 2", "{ a = { b = 1, c = { d = 2 } } }"),
      ("[a]\nb.c = 1\n[a.b.d]\ne = 2", "{ a = { b = { c = 1, d = { e = 2 } } } }"),
      ("[[a]]\nb = 1\n[[a]]\n[[a]]\nb = 3", "{ a = [{ b = 1 }, {}, { b = 3 }] }"),
      (
        "[[a]]\n[a.b]\nx = 1\n[[a.c]]\n[[a.c]]\n[[a]]\n[a.b]\nx = 2",
        "{ a = [{ b = { x = 1 }, c = [{}, {}] }, { b = { x = 2 } }] }"
      ),
      ("[a.b]\n[[a.c]]\nx.y = 1\n[[a.c]]\nx.y = 2", "{ a = { b = {}, c = [{ x = { y = 1 } }, { x = { y = 2 } }] } }"),
      ("[a]\n[b]\n[a.b]", "{ a = { b = {} }, b = {} }"),
    ])
  func tables(text: String, expected: String) throws {
    #expect(try values(text) == expected)
  }

  @Test("Nesting to the bound is accepted in every form, and one level more is refused")
  func nesting() throws {
    let maximum = TOMLReader.nestingMaximum
    func texts(_ depth: Int) -> [String] {
      let keys = repeatElement("k", count: depth).joined(separator: ".")
      return [
        keys + " = 1", "[\(keys)]", "[[\(keys.dropLast(2))]]", "[\(keys.dropLast(2))]\nx = 1",
        "a = " + String(repeating: "[", count: depth - 1) + "1" + String(repeating: "]", count: depth - 1),
        "a = " + String(repeating: "{k=", count: depth - 1) + "1" + String(repeating: "}", count: depth - 1),
      ]
    }
    for text in texts(maximum) { _ = try values(text) }
    for text in texts(maximum + 1) {
      do throws(TOMLFault) {
        _ = try TOMLReader.document(of: Array(text.utf8))
        Issue.record("accepted: \(text)")
      } catch { #expect(error.message == "nested more than 32 levels deep") }
    }
  }
}
