import Testing

@testable import RoostConfiguration

@Suite("TOML that is refused, rule by rule, and what is said of it")
struct TOMLInvalidTests {
  private func expect(_ bytes: [UInt8], _ complaint: String, sourceLocation: SourceLocation = #_sourceLocation) {
    do throws(TOMLFault) {
      _ = try TOMLReader.document(of: bytes)
      Issue.record("accepted: \(String(decoding: bytes, as: UTF8.self))", sourceLocation: sourceLocation)
    } catch {
      let told = "\(error.place.line):\(error.place.column): \(error.message)"
      #expect(told == complaint, sourceLocation: sourceLocation)
    }
  }

  @Test(
    "Bytes that are no text",
    arguments: [
      ([0x61, 0x0A, 0xFF], "2:1: this is not UTF-8"), ([0xED, 0xA0, 0x80], "1:1: this is not UTF-8"),
      ([0x23, 0xC0, 0xAF], "1:2: this is not UTF-8"), ([0x23, 0xF4, 0x90, 0x80, 0x80], "1:2: this is not UTF-8"),
      ([0x23, 0xC3], "1:2: this is not UTF-8"), ([0xFF, 0xFE, 0x61, 0x00], "1:1: this is not UTF-8"),
      ([0x23, 0x00], "1:2: a control character, U+0000; not a text file?"),
      ([0x61, 0x3D, 0x22, 0x1F, 0x22], "1:4: a control character, U+001F; not a text file?"),
      ([0x23, 0x7F], "1:2: a control character, U+007F; not a text file?"),
      ([0x23, 0x0D, 0x61], "1:2: a carriage return that ends no line; lines end with a line feed"),
      ([0x23, 0x0D], "1:2: a carriage return that ends no line; lines end with a line feed"),
    ] as [([UInt8], String)])
  func bytes(bytes: [UInt8], complaint: String) { expect(bytes, complaint) }

  @Test(
    "Keys and lines",
    arguments: [
      ("= 1", "1:1: expected a key, saw '='"), ("a", "1:2: expected '=' after the key 'a', saw the end of the file"),
      ("a.b\n", "1:4: expected '=' after the key 'a.b', saw the end of the line"),
      ("a b = 1", "1:3: expected '=' after the key 'a', saw 'b'"),
      ("a: 1", "1:2: expected '=' after the key 'a', saw ':'"),
      ("a. = 1", "1:4: expected a key, saw '='"), (".a = 1", "1:1: expected a key, saw '.'"),
      ("a..b = 1", "1:3: expected a key, saw '.'"),
      ("a\n= 1", "1:2: expected '=' after the key 'a', saw the end of the line"),
      ("é = 1", "1:1: expected a key, saw 'é' (U+00E9); a key with other letters than a to z needs quotes"),
      ("café = 1", "1:4: expected '=' after the key 'caf', saw 'é' (U+00E9)"),
      ("a# = 1", "1:2: expected '=' after the key 'a', saw '#'"),
      ("'''a''' = 1", "1:1: a key cannot be a string of several lines"),
      ("\"a\nb\" = 1", "1:1: a string begins here, and its closing \" is missing on this line"),
      ("a = 1 b = 2", "1:7: expected the end of the line or a '#', saw 'b'"),
      ("a = 'x'y", "1:8: expected the end of the line or a '#', saw 'y'"),
      ("a = \n", "1:5: expected a value, saw the end of the line"),
      ("a =", "1:4: expected a value, saw the end of the file"),
      ("a = # x", "1:5: expected a value, saw '#'"), ("a = \u{A0}1", "1:5: expected a value, saw U+00A0"),
      ("a = = 1", "1:5: expected a value, saw '='"),
      ("a = “x”", "1:5: expected a value, saw '“' (U+201C); strings take straight quotes, \" or '"),
      ("a = 10s", "1:5: '10s' is not a value; text needs quotes"),
      ("a = True", "1:5: 'True' is not a value; text needs quotes"),
      (
        "a = wss://\(String(repeating: "x", count: 50))",
        "1:5: 'wss://\(String(repeating: "x", count: 34))…' is not a value; text needs quotes"
      ),
    ])
  func lines(text: String, complaint: String) { expect(Array(text.utf8), complaint) }

  @Test(
    "Headers",
    arguments: [
      ("[]", "1:2: expected a key, saw ']'"),
      ("[a", "1:3: expected '.' or the ']' of the header, saw the end of the file"),
      ("[a\n]", "1:3: expected '.' or the ']' of the header, saw the end of the line"),
      ("[a.]", "1:4: expected a key, saw ']'"),
      ("[.worker]", "1:2: expected a key, saw '.'"),
      ("[é]", "1:2: expected a key, saw 'é' (U+00E9); a key with other letters than a to z needs quotes"),
      ("[\n]", "1:2: expected a key, saw the end of the line"), ("[ [a]]", "1:3: expected a key, saw '['"),
      ("[[a] ]", "1:5: expected the second ']' of the header, saw ' '"),
      ("[[a]", "1:5: expected the second ']' of the header, saw the end of the file"),
      ("[a]]", "1:4: expected the end of the line or a '#', saw ']'"),
      ("[a] b = 1", "1:5: expected the end of the line or a '#', saw 'b'"),
      ("[[]]", "1:3: expected a key, saw ']'"), ("[a b]", "1:4: expected '.' or the ']' of the header, saw 'b'"),
    ])
  func headers(text: String, complaint: String) { expect(Array(text.utf8), complaint) }

  @Test(
    "Strings",
    arguments: [
      ("a = \"x\nb = 1", "1:5: a string begins here, and its closing \" is missing on this line"),
      ("a = 'x\r\n", "1:5: a string begins here, and its closing ' is missing on this line"),
      ("\na = \"\"\"x\n\"\"\nb", "2:5: a string begins here, and its closing \"\"\" is missing"),
      ("a = '''x''", "1:5: a string begins here, and its closing ''' is missing"),
      (
        "a = \"x\\",
        "1:7: a backslash before the end of the file has no meaning; write \\\\, or the text in '…'"
      ),
      (
        #"a = "\x41""#,
        "1:6: a backslash before 'x' has no meaning; write \\\\, or the text in '…'"
      ),
      (
        #"a = "\e""#,
        "1:6: a backslash before 'e' has no meaning; write \\\\, or the text in '…'"
      ),
      (
        "a = \"\"\"\\ x\"\"\"",
        "1:8: a backslash before ' ' has no meaning; write \\\\, or the text in '…'"
      ),
      (#"a = "\u12g4""#, "1:10: expected 4 hexadecimal digits after \\u, saw 'g'"),
      (#"a = "\U0001F60""#, "1:15: expected 8 hexadecimal digits after \\U, saw '\"'"),
      (#"a = "\u+123""#, "1:8: expected 4 hexadecimal digits after \\u, saw '+'"),
      (#"a = "\uD800""#, "1:6: \\uD800 is no character of Unicode"),
      (#"a = "\U00110000""#, "1:6: \\U00110000 is no character of Unicode"),
      ("a = \"\"\"x\"\"\"\"\"\"", "1:14: expected the end of the line or a '#', saw '\"'"),
      ("a = '''x''''''", "1:14: expected the end of the line or a '#', saw '''"),
    ])
  func strings(text: String, complaint: String) { expect(Array(text.utf8), complaint) }

  @Test(
    "Numbers",
    arguments: [
      ("012", "no zero may stand before a number"), ("-01", "no zero may stand before a number"),
      ("00", "no zero may stand before a number"),
      ("0_1", "no zero may stand before a number"), ("03.14", "no zero may stand before a number"),
      ("1__0", "an underscore must stand between two digits"), ("1_", "an underscore must stand between two digits"),
      ("0x_1", "an underscore must stand between two digits"), ("1_.5", "an underscore must stand between two digits"),
      ("1._5", "an underscore must stand between two digits"), ("1e_5", "an underscore must stand between two digits"),
      ("+0x1", "no sign may stand before a number of this form"),
      ("-0b1", "no sign may stand before a number of this form"),
      ("0x", "digits are missing"), ("1.", "digits are missing"), (".5", "digits are missing"),
      ("-.5", "digits are missing"),
      ("1.e5", "digits are missing"), ("1e", "digits are missing"), ("1e+", "digits are missing"),
      ("9223372036854775808", "the integer does not fit into 64 bits"),
      ("-9223372036854775809", "the integer does not fit into 64 bits"),
      ("0x8000000000000000", "the integer does not fit into 64 bits"),
      ("0xffffffffffffffff", "the integer does not fit into 64 bits"),
      ("1e309", "the number is too great for 64 bits"), ("-1e309", "the number is too great for 64 bits"),
    ])
  func numbers(written: String, reason: String) {
    expect(Array("a = \(written) # x".utf8), "1:5: '\(written)': \(reason)")
  }

  @Test(
    "What only resembles a number or a boolean",
    arguments: [
      "+", "-", "_1", "0X1", "0B1", "0O7", "0o8", "0b2", "0xg", "1a", "1.2.3", "1e5.5", "+-1", "++1", "Inf", "NaN",
      "infinity", "TRUE", "tru", "truee", "1e5e5",
    ])
  func words(written: String) {
    expect(Array("a = \(written)".utf8), "1:5: '\(written)' is not a value; text needs quotes")
  }

  @Test(
    "Dates and times",
    arguments: [
      ("2023-02-29", "there is no such day"), ("1900-02-29", "there is no such day"),
      ("2023-04-31", "there is no such day"),
      ("2023-00-01", "there is no such day"), ("2023-13-01", "there is no such day"),
      ("2023-01-00", "there is no such day"),
      ("24:00:00", "there is no such time"), ("23:60:00", "there is no such time"),
      ("23:59:61", "there is no such time"),
      ("2023-01-01T00:00:00+24:00", "there is no such time"), ("2023-01-01T00:00:00-01:60", "there is no such time"),
    ])
  func dates(written: String, reason: String) { expect(Array("a = \(written)".utf8), "1:5: '\(written)': \(reason)") }

  @Test(
    "What only resembles a date or a time",
    arguments: [
      "2023-1-1", "2023-01", "2023-01-01T", "2023-01-01T07:32", "07:32", "07:32:00.", "7:32:00", "2023-01-01x",
      "2023-01-01T07:32:00+1:00",
      "2023-01-01T07:32:00+01", "2023-01-01T07:32:00ZZ", "07:32:00Z", "2023-01-01 07", "23-01-01",
      "2023-01-01T07:32:00.5.5",
    ])
  func malformedDates(written: String) {
    #expect(throws: TOMLFault.self) { try TOMLReader.document(of: Array("a = \(written)".utf8)) }
  }

  @Test(
    "Arrays and inline tables",
    arguments: [
      ("a = [1, 2", "1:5: an array begins here, and its ']' is missing"),
      ("a = [", "1:5: an array begins here, and its ']' is missing"),
      ("a = [1,\n", "1:5: an array begins here, and its ']' is missing"),
      ("a = [1 2]", "1:8: expected ',' or the ']' of the array, saw '2'"),
      ("a = [1,\n2\nb = 3", "3:1: expected ',' or the ']' of the array begun on line 1, saw 'b'"),
      ("a = [,]", "1:6: expected a value or the ']' of the array, saw ','"),
      ("a = [1,,2]", "1:8: expected a value or the ']' of the array, saw ','"),
      ("a = [\n  \"ø\", }", "2:8: expected a value or the ']' of the array begun on line 1, saw '}'"),
      ("a = [\u{A0}1]", "1:6: expected a value, saw U+00A0"),
      ("a = [[1], [}]]", "1:12: expected a value or the ']' of the array, saw '}'"),
      ("a = {", "1:5: an inline table begins here, and its '}' is missing on this line"),
      ("a = { b = 1\n}", "1:5: an inline table begins here, and its '}' is missing on this line"),
      ("a = {\n}", "1:5: an inline table begins here, and its '}' is missing on this line"),
      ("a = { b = 1, # x\n}", "1:5: an inline table begins here, and its '}' is missing on this line"),
      ("a = {b = 1,}", "1:12: expected a key after the ',', saw '}'"), ("a = {,}", "1:6: expected a key, saw ','"),
      ("a = {b = 1 c = 2}", "1:12: expected ',' or the '}' of the inline table, saw 'c'"),
      ("a = {b}", "1:7: expected '=' after the key 'b', saw '}'"),
      ("a = {b = 1, b = 2}", "1:13: 'b' is given twice, first on line 1"),
      ("a = {b = {}, b.c = 1}", "1:14: 'b' is an inline table, on line 1, and nothing can be added to it"),
    ])
  func brackets(text: String, complaint: String) { expect(Array(text.utf8), complaint) }

  @Test(
    "What is said twice",
    arguments: [
      ("a = 1\na = 1", "2:1: 'a' is given twice, first on line 1"),
      ("a = 1\n\"a\" = 2", "2:1: 'a' is given twice, first on line 1"),
      ("a.b = 1\na . b = 2", "2:5: 'a.b' is given twice, first on line 1"),
      ("a.b = 1\na = 2", "2:1: 'a' is given twice, first on line 1"),
      ("\"\u{E9}\" = 1\n\"e\u{301}\" = 2", "2:1: '\"e\u{301}\"' is given twice, first on line 1"),
      ("[a.b]\n[a]\nb = 1", "3:1: 'b' is given twice, first on line 1"),
      ("[a]\n[b]\n[a]", "3:2: [a] has a header already, on line 1"),
      ("[a.b]\n[a]\n[a]", "3:2: [a] has a header already, on line 2"),
      ("a.b = 1\n[a]", "2:2: 'a' is a table already, made by the dotted key on line 1"),
      ("[a]\nb.c = 1\n[a.b]", "3:4: 'a.b' is a table already, made by the dotted key on line 2"),
      ("[[a]]\n[a]", "2:2: [[a]] is an array of tables, begun on line 1; one more needs two brackets"),
      ("[a]\n[[a]]", "2:3: 'a' is one table, since line 1, and cannot be an array of tables"),
      ("[a.b]\n[[a]]", "2:3: 'a' is one table, since line 1, and cannot be an array of tables"),
      ("a.b = 1\n[[a]]", "2:3: 'a' is one table, since line 1, and cannot be an array of tables"),
      ("[[a.b]]\n[a]\nb.c = 1", "3:1: 'b' is an array of tables, begun on line 1; its keys belong below its headers"),
      ("[a.b.c]\n[a]\nb.c.d = 1", "3:3: 'b.c' has a header of its own, on line 1; its keys belong there"),
      ("[a.b.c]\n[a]\nb.c.d.e = 1", "3:3: 'b.c' has a header of its own, on line 1; its keys belong there"),
    ])
  func twice(text: String, complaint: String) { expect(Array(text.utf8), complaint) }

  @Test(
    "What is complete and cannot be added to",
    arguments: [
      ("a = 'x'\na.b = 1", "2:1: 'a' is a string, on line 1, and nothing can be added to it"),
      ("a = 1\n[a.b]", "2:2: 'a' is an integer, on line 1, and nothing can be added to it"),
      ("a = 1.5\n[a]", "2:2: 'a' is a number, on line 1, and nothing can be added to it"),
      ("a = true\n[[a]]", "2:3: 'a' is a boolean, on line 1, and nothing can be added to it"),
      ("a = 07:32:00\na.b = 1", "2:1: 'a' is a date or a time, on line 1, and nothing can be added to it"),
      ("a = {}\na.b = 1", "2:1: 'a' is an inline table, on line 1, and nothing can be added to it"),
      ("a = {}\n[a]", "2:2: 'a' is an inline table, on line 1, and nothing can be added to it"),
      ("a = {}\n[[a]]", "2:3: 'a' is an inline table, on line 1, and nothing can be added to it"),
      ("a.b = {}\n[a.b.c]", "2:4: 'a.b' is an inline table, on line 1, and nothing can be added to it"),
      ("a = { b.c = 1 }\n[a.b]", "2:2: 'a' is an inline table, on line 1, and nothing can be added to it"),
      ("a = []\n[[a]]", "2:3: 'a' is an array, on line 1, and nothing can be added to it"),
      ("a = [{}]\n[[a.b]]", "2:3: 'a' is an array, on line 1, and nothing can be added to it"),
      ("a = [{}]\na.b = 1", "2:1: 'a' is an array, on line 1, and nothing can be added to it"),
    ])
  func complete(text: String, complaint: String) { expect(Array(text.utf8), complaint) }
}
