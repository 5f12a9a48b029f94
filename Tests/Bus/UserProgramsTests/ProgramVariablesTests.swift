import Testing

@testable import UserPrograms

@Suite struct ProgramVariablesTests {
  @Test("No value stands in the command line, and of several values of a name the last one counts")
  func commandLine() {
    let variables = ProgramVariables(["PATH=/bin", "API_KEY=hunter2", "EMPTY=", "PATH=/usr/bin", "X=a=b"])
    #expect(variables.entries == ["API_KEY=hunter2", "EMPTY=", "PATH=/usr/bin", "X=a=b"])
    #expect(variables.shimArguments == ["--env", "API_KEY", "--env", "EMPTY", "--env", "PATH", "--env", "X"])
  }
}
