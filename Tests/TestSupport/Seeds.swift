// Property tests draw their cases from seeds. Every run draws new ones, so the suite keeps looking; a failing case is
// reported by Swift Testing together with its argument, which is the seed; and `ROOST_SEED=<seed>` runs that case
// alone.
import Glibc

/// The seeds of a property test: pass them as its `arguments`, so that a failure prints the one that failed.
///
/// With `ROOST_SEED` in the environment (decimal) there is that seed only.
public func seeds(_ count: Int) -> [UInt64] {
  if let value = getenv("ROOST_SEED"), let seed = UInt64(String(cString: value)) { return [seed] }
  return (0..<count).map { _ in UInt64.random(in: .min ... .max) }
}

/// How much of something a test does: `name` of the environment, a whole number above 0, or `standard`.
public func amount(_ name: String, standard: Int) -> Int {
  guard let value = getenv(name), let number = Int(String(cString: value)), number > 0 else { return standard }
  return number
}
