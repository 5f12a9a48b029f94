import Clocks
import EventLoop
import Glibc

// What an await costs on the loop's executor, and what it costs on Swift's own.
//
//     loop-bench [AWAITS]
//
// Two tasks of one isolation wake each other in turn, so each await is one whole suspension: a continuation kept, a job
// enqueued by the other task, and run. The same rally is played on `EventLoopActor` and by an actor of the default
// executor, the yardstick. Prints one line of JSON, nanoseconds for one await.

let awaits = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 400_000

EventLoopActor.task {
  _ = await LoopRally().play(awaits / 10)  // warm
  let loop = await LoopRally().play(awaits)
  _ = await PoolRally().play(awaits / 10)
  let pool = await PoolRally().play(awaits)
  print("{\"loopNanoseconds\": \(loop), \"poolNanoseconds\": \(pool), \"awaits\": \(awaits)}")
  EventLoop.process.stop()
}
EventLoop.process.run()
