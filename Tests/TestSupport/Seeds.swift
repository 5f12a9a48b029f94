// Property tests take their cases from seeds. The seeds are fixed, so that the same source passes or fails everywhere.
// With `ROOST_SEEDS=drawn` every run draws new ones: `make soak` does that, so the suite keeps looking. Swift Testing
// reports a failing case with its argument, which is the seed; `ROOST_SEED=<seed>` runs that case alone.
internal import Clocks
import Glibc

/// The seeds of a property test: pass them as its `arguments`, so that a failure prints the one that failed.
///
/// With `ROOST_SEED` in the environment (decimal) there is that seed only.
public func seeds(_ count: Int) -> [UInt64] {
  if let value = getenv("ROOST_SEED"), let seed = UInt64(String(cString: value)) { return [seed] }
  if let value = getenv("ROOST_SEEDS"), String(cString: value) == "drawn" {
    return (0..<count).map { _ in UInt64.random(in: .min ... .max) }
  }
  var fixed = SeededGenerator(seed: 4_869)
  return (0..<count).map { _ in fixed.next() }
}

/// How much of something a test does: `name` of the environment, a whole number above 0, or `standard`.
public func amount(_ name: String, standard: Int) -> Int {
  guard let value = getenv(name), let number = Int(String(cString: value)), number > 0 else { return standard }
  return number
}
