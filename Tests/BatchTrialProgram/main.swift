import BatchTrial
import Glibc

// Verifies signatures in batches, and each by libsecp256k1 alone, and counts where the verdicts differ.
//
//     batch-trial COUNT [SEED]      SEED is drawn without it
//
// Prints a line of JSON after each million, and at the end. Exit: 0 no difference, 1 a difference, or a batch of true
// claims that did not hold.

guard CommandLine.arguments.count > 1, let count = Int(CommandLine.arguments[1]), count > 0 else {
  print("usage: batch-trial COUNT [SEED]")
  exit(2)
}
let seed = CommandLine.arguments.count > 2 ? UInt64(CommandLine.arguments[2]) : .random(in: .min ... .max)
guard let seed else {
  print("batch-trial: SEED is a whole number")
  exit(2)
}
var trial = BatchTrial(seed: seed)
while trial.signatureCount < count {
  trial.run(min(1_000_000, count - trial.signatureCount))
  print(trial.report)
  fflush(nil)
}
exit(trial.isPassed ? 0 : 1)
