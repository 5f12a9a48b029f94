import PushDelivery
import Testing

@Suite("News of devices")
struct DeviceNewsTests {
  @Test("stands over what was read before it, for as long as somebody reads")
  func news() {
    var news = DeviceNews()
    news.removed(1)
    #expect(news.current([device(1)]).count == 1, "nobody read")
    news.readingBegan()
    news.readingBegan()
    news.removed(1)
    var moved = device(2)
    moved.token = token(.ios, 77)
    news.changed(moved)
    #expect(news.current([device(1), device(2), device(3)]) == [moved, device(3)])
    var newer = device(2)
    newer.registeredAt += 1
    #expect(news.current([newer]) == [newer], "what was read is the newer one")
    news.readingEnded()
    #expect(news.current([device(1)]).isEmpty)
    news.readingEnded()
    #expect(news.current([device(1)]).count == 1)
  }
}
