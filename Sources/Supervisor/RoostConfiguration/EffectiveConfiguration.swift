extension SupervisorConfiguration {
  /// Every key with its value in force, as the text of a file that gives an equal configuration when it is read.
  /// `roostd --check --effective` prints it.
  public var effective: String {
    var text = "# \(file): every key and its value in force\n"
    text += SupervisorConfiguration.table("supervisor", Schema.supervisor, supervisor)
    text += SupervisorConfiguration.table("bus", Schema.bus, bus)
    text += SupervisorConfiguration.table("log", Schema.log, log)
    for worker in workers {
      let name = "worker.\(worker.name)"
      text += SupervisorConfiguration.table(name, Schema.worker + Schema.settings(ofRole: worker.role), worker)
      if !RoleConfiguration.builtIn.contains(worker.role) { text += "settings = \(worker.settings)\n" }
      text += SupervisorConfiguration.table(name + ".limits", Schema.limits, worker)
      for job in worker.jobs { text += SupervisorConfiguration.table("\(name).job.\(job.kind)", Schema.job, job) }
      for keep in worker.keeps { text += SupervisorConfiguration.table("\(name).keep.\(keep.name)", Schema.keep, keep) }
      for wake in worker.wakes { text += SupervisorConfiguration.table("\(name).wake.\(wake.type)", Schema.wake, wake) }
    }
    for role in roles { text += SupervisorConfiguration.table("role.\(role.name)", Schema.role, role) }
    return text
  }

  private static func table<Root>(_ name: String, _ settings: [Setting<Root>], _ root: Root) -> String {
    settings.reduce("\n[\(name)]\n") { $0 + "\($1.name) = \($1.read(root))\n" }
  }
}
