// Package resultshape knows the shapes of what the actions of AWS services answer, and tells whether a JSON value could
// be such an answer in the result of a task, in the words of Step Functions. It never calls a service.
package resultshape
