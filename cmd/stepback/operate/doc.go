// Package operate implements the verbs for what runs. Some look into executions, histories, logs, mails and state
// machines, the others start, stop and redrive executions and report for tasks.
package operate
