import Glibc
import JSON
import RelaySelection

// The planner's choice of relays as a filter of lines, so that worlds by other hands can judge it.
//
//     outbox-select [--seed N] [--mode greedy|direct|learned] [--cap N] [--visits N]
//
// Reads a session a line from standard input, and answers each with a line: which relays stay open and are asked for
// whom, which replace them, which are visited. It keeps what it learned between lines. A line that cannot be read is
// answered with {"error": "…"} and ends the program with status 65; a flag that it does not know, with status 64.

func refuse(_ why: String, status: Int32) -> Never {
  var text: [UInt8] = []
  JSONString.append(why, to: &text)
  print("{\"error\": \(String(decoding: text, as: UTF8.self))}")
  exit(status)
}

func readFlags() -> SelectionSession {
  var (seed, cap, visits, mode) = (UInt64(0), 20, 20, SelectionMode.learned)
  var arguments = CommandLine.arguments.dropFirst()
  while let flag = arguments.popFirst() {
    let value = arguments.popFirst() ?? ""
    switch flag {
    case "--seed": if let number = UInt64(value) { seed = number } else { refuse("--seed takes a number", status: 64) }
    case "--cap":
      guard let number = Int(value), (0...10_000).contains(number) else {
        refuse("--cap takes a number up to 10000", status: 64)
      }
      cap = number
    case "--visits":
      guard let number = Int(value), (0...10_000).contains(number) else {
        refuse("--visits takes a number up to 10000", status: 64)
      }
      visits = number
    case "--mode":
      guard let named = SelectionMode(rawValue: value) else {
        refuse("--mode takes greedy, direct or learned", status: 64)
      }
      mode = named
    default: refuse("\(flag) is not known: --seed, --mode, --cap, --visits", status: 64)
    }
  }
  return SelectionSession(mode: mode, seed: seed, cap: cap, visits: visits)
}

var session = readFlags()
while let line = readLine(strippingNewline: true) {
  if line.allSatisfy(\.isWhitespace) { continue }
  let read = Array(line.utf8).withUnsafeBytes { bytes in
    Result { () throws(JSONFault) in try SessionLine(bytes) }
  }
  switch read {
  case .success(let line):
    print(session.answer(line))
    fflush(nil)
  case .failure(let fault): refuse("\(fault)", status: 65)
  }
}
