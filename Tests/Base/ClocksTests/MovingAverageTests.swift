import Clocks
import Testing

@Suite struct MovingAverageTests {
  @Test("The first sample is the average, and each further one moves it by an eighth of the difference")
  func eighths() {
    var average = MovingAverage()
    #expect(average.value == nil)
    average.add(800)
    #expect(average.value == 800)
    average.add(1_600)
    #expect(average.value == 900)
    average.add(100)
    #expect(average.value == 800)
    for _ in 0..<100 { average.add(40) }
    #expect(average.value == 40)
  }

  @Test("One sample out of the way passes, and the largest numbers are taken")
  func outliers() {
    var average = MovingAverage()
    for _ in 0..<20 { average.add(100) }
    average.add(10_100)
    #expect(average.value == 1_350)
    for _ in 0..<60 { average.add(100) }
    #expect(average.value == 100)
    average.add(.max / 2)
    #expect(average.value.map { $0 > 1 << 59 } == true)
  }
}
