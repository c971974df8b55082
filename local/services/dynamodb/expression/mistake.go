package expression

import "stepback/local/services/dynamodb/item"

// mistake is a kind of error in a syntactically valid expression. If there are several errors, DynamoDB reports the
// one whose kind comes first in this order.
type mistake int

const (
	redundantParentheses mistake = iota
	reservedUpdate               // reserved words in updates and projections are reported before unknown functions
	unknownFunction
	misusedFunction
	reservedCondition
	repeatedSection
	undefinedName
	undefinedValue
	pathLimit
	overlap
	conflict
	wrongOperand
	inCondition // an error within a condition; only the first is reported
	mistakes
)

// note records the first error of its kind.
func (p *parser) note(m mistake, message string) {
	if p.noted[m] == "" {
		p.noted[m] = item.Invalid(message)
	}
}
