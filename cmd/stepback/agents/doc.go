// Package agents implements the verb mcp: a server of the Model Context Protocol, through which programs such as coding
// agents use the other verbs. Each tool runs a verb with --json where there is one, so that an agent and a person get
// the same answer. The package never computes an answer itself.
package agents
