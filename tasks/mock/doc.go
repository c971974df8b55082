// Package mock answers tasks from a file instead of calling their services: the mocked service integrations of Step
// Functions Local (MockConfigFile.json). A test case of a state machine says which states are mocked and by which
// responses; the responses of a state are numbered by its invocations within one execution, whether they are retries,
// iterations of a Map or turns of a loop. States that a test case does not list call their services. Responses are not
// compared with what the services could answer.
package mock
