import Clocks
import EventLoop
import TestSupport
import Testing

@Suite struct SignalTests {
  @Test("A raised signal resumes all tasks that wait, in the order in which they came")
  func order() async throws {
    try await LoopThread.run {
      let signal = Signal()
      var begun = 0
      var resumed: [Int] = []
      for number in 0..<5 {
        EventLoopActor.task {
          begun += 1
          let isRaised = await signal.wait()
          resumed.append(isRaised ? number : -1)
        }
      }
      try await eventually("all wait") { begun == 5 }
      signal.raise()
      #expect(resumed.isEmpty, "no task runs inside of raise()")
      try await eventually("all go on") { resumed.count == 5 }
      #expect(resumed == [0, 1, 2, 3, 4])
    }
  }

  @Test("A signal that is raised while no task waits is not remembered")
  func notRemembered() async throws {
    try await LoopThread.run {
      let signal = Signal()
      signal.raise()
      #expect(await signal.wait(until: EventLoop.process.now.advanced(milliseconds: 5)) == false)
    }
  }

  @Test("A wait ends at its deadline, not earlier, and a later raise() does not meet it")
  func deadline() async throws {
    try await LoopThread.run {
      let signal = Signal()
      let deadline = EventLoop.process.now.advanced(milliseconds: 20)
      #expect(await signal.wait(until: deadline) == false)
      #expect(EventLoop.process.now >= deadline)
      signal.raise()
    }
  }

  @Test("A wait whose deadline has passed does not begin")
  func passedDeadline() async throws {
    try await LoopThread.run {
      let signal = Signal()
      let turn = EventLoop.process.turnStart
      #expect(await signal.wait(until: EventLoop.process.now) == false)
      #expect(EventLoop.process.turnStart == turn)
    }
  }

  @Test("A raised signal ends a wait before its deadline")
  func raisedBeforeDeadline() async throws {
    try await LoopThread.run {
      let signal = Signal()
      let timer = LoopTimer()
      timer.set(afterMilliseconds: 1) { signal.raise() }
      #expect(await signal.wait(until: EventLoop.process.now.advanced(milliseconds: 60_000)))
    }
  }

  @Test("A task that waits again waits for the next event")
  func again() async throws {
    try await LoopThread.run {
      let signal = Signal()
      var count = 0
      EventLoopActor.task { while await signal.wait() { count += 1 } }
      try await remains("it waits", forMilliseconds: 5) { count == 0 }
      signal.raise()
      signal.raise()
      try await eventually("it goes on") { count == 1 }
      try await remains("once", forMilliseconds: 5) { count == 1 }
      signal.raise()
      try await eventually("it goes on again") { count == 2 }
    }
  }

  @Test("More tasks than may wait are refused at once, and the others wait on")
  func maximum() async throws {
    try await LoopThread.run {
      let signal = Signal(waiterMaximum: 1)
      var isResumed = false
      EventLoopActor.task { isResumed = await signal.wait() }
      try await remains("it waits", forMilliseconds: 5) { !isResumed }
      #expect(await signal.wait() == false)
      signal.raise()
      try await eventually("the first goes on") { isResumed }
    }
  }

  @Test("A condition that holds is not waited for")
  func conditionHolds() async throws {
    try await LoopThread.run {
      #expect(await Signal().wait(until: EventLoop.process.now, for: { true }))
    }
  }

  @Test("A wait for a condition goes on through events that do not make it true")
  func condition() async throws {
    try await LoopThread.run {
      let signal = Signal()
      var count = 3
      var isOver = false
      EventLoopActor.task { isOver = await signal.wait(for: { count == 0 }) }
      for left in [2, 1] {
        count = left
        signal.raise()
        try await remains("it waits", forMilliseconds: 2) { !isOver }
      }
      count = 0
      signal.raise()
      try await eventually("it holds") { isOver }
    }
  }

  @Test("A wait for a condition that never holds ends at its deadline and says so")
  func conditionFails() async throws {
    try await LoopThread.run {
      let signal = Signal()
      let deadline = EventLoop.process.now.advanced(milliseconds: 10)
      #expect(await signal.wait(until: deadline, for: { false }) == false)
      #expect(EventLoop.process.now >= deadline)
    }
  }
}
