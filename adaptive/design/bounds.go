package design

import (
	"fmt"
	"math"

	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/worth"
)

// Bound is a bound by theory, beside what the laboratory finds.
type Bound struct {
	// Name identifies the bound: stability, retries, fluid, drain, permanent, cost or finish. Condition is the
	// condition for which it holds; empty for all.
	Name      string  `json:"name"`
	Condition string  `json:"condition,omitempty"`
	Value     float64 `json:"value"`
	// Text states the bound.
	Text string `json:"text"`
	// Excludes is true if the bound proves that the objective cannot be met.
	Excludes bool `json:"excludes"`
}

// bounds computes the bounds by theory. Those that may exclude the objective assume the best values of all ranges.
func (p *Problem) bounds() ([]Bound, error) {
	prices, err := worth.PricesOf(simulation.PriceRegion)
	if err != nil {
		return nil, err
	}
	var all []Bound
	add := func(name, condition string, value float64, excludes bool, format string, args ...any) {
		all = append(all, Bound{name, condition, value, fmt.Sprintf(format, args...), excludes})
	}
	c, o := &p.Callee, &p.Objective
	capacity := c.Capacity()
	if p.Arrivals != nil {
		rate := p.Arrivals.Rate
		use := Range{rate.Low / capacity.High, rate.High / capacity.Low}
		add("stability", "", use.High, false, "the callee serves %s calls/s and %s records/s arrive: utilisation %s; above 1 its "+
			"queue grows without end", capacity, rate, use)
		spare := capacity.Low/rate.High - 1
		add("retries", "", max(spare, 0), false, "an overload ends only if the retries of a record are fewer than capacity ÷ arrivals "+
			"− 1 = %.3g on average", max(spare, 0))
	}
	if share := c.permanent(); share > 0 {
		most := 1 - share
		add("permanent", "", most, o.Saved > most+p.chance(most), "%.4g %% of the records never succeed, so at most %.4g %% can be saved",
			100*share, 100*most)
	}
	for k, name := range p.conditions() {
		if p.Arrivals == nil {
			break
		}
		most := p.fluid(k)
		add("fluid", name, most, o.Saved > most+p.chance(most), "%s: no policy can save more than %.4g %% within %s, because "+
			"the callee serves at most %.4g calls/s%s", name, 100*most, inWords(o.Within), capacity.High, p.outage(k))
		if k > 0 {
			f := &p.Faults[k-1]
			backlog := f.backlog(p.Arrivals.Rate.High)
			if spare := capacity.Low - p.Arrivals.Rate.High; spare > 0 {
				add("drain", name, backlog/spare, false, "%s: up to %.0f records wait at its end, which the spare capacity of %.4g calls/s "+
					"serves in %s", name, backlog, spare, inWords(backlog/spare))
			}
		}
	}
	if p.Map != nil {
		least := float64(p.Map.Items) / capacity.High
		add("finish", "", least, o.Finish > 0 && o.Finish < least*0.98, "%d records take at least %s at %.4g calls/s", p.Map.Items,
			inWords(least), capacity.High)
		for k, f := range p.Faults {
			if f.Errors.Low >= 1 && f.For.Low > 0 {
				least := least + f.For.Low
				add("finish", p.Faults[k].Name, least, o.Finish > 0 && o.Finish < least*0.98, "%s: they take at least %s, because nothing "+
					"succeeds during the fault", f.Name, inWords(least))
			}
		}
	}
	floor := p.costFloor(prices)
	add("cost", "", floor, o.USDPerThousand > 0 && o.USDPerThousand < floor*0.98, "1,000 records cost at least $%.4g: a transition and an "+
		"invocation of %s s each, at the prices of %s, %s", floor, c.Mean, prices.Region, prices.Date)
	if o.CallsPerRecord > 0 {
		if t := c.transient(); t > 0 {
			// A record that is not saved makes one call at least; one that is saved makes 1 ÷ (1 − t) on average.
			least := 1 + o.Saved*t
			add("calls", "", least, o.CallsPerRecord < least*0.98, "%.4g %% of the calls fail at any load, so %.4g %% saved take at least %.4g "+
				"calls a record", 100*t, 100*o.Saved, least)
		}
	}
	return all, nil
}

// outage returns a clause that describes the fault of a condition.
func (p *Problem) outage(k int) string {
	if k == 0 {
		return ""
	}
	f := &p.Faults[k-1]
	switch {
	case f.Errors.Low >= 1:
		return ", and none for " + inWords(f.For.Low)
	case f.Speed.High < 1:
		return fmt.Sprintf(", and %.3g times that for %s", f.Speed.High, inWords(f.For.Low))
	}
	return ""
}

// chance returns the deviation above a bound on a share that can occur by chance in a period.
func (p *Problem) chance(share float64) float64 {
	return 4 * math.Sqrt(max(share*(1-share), 1e-9)/max(p.records(), 1))
}

// fluid returns the largest share of the records that can be served within Objective.Within of their arrival, if
// records and capacity were fluids: at every moment the oldest record that is still in time is served. No order of
// service can do better. The values of all ranges are the most favourable ones.
func (p *Problem) fluid(condition int) float64 {
	const step = 1.0 // seconds
	c := &p.Callee
	rate, capacity := p.Arrivals.Rate.Low, c.Capacity().High*(1-c.transient())
	if c.Quota > 0 {
		capacity += 2 * c.Burst / p.Period // a full burst at the start and after a fault
	}
	begin, lasts, left := math.Inf(1), 0.0, 1.0
	if condition > 0 {
		f := &p.Faults[condition-1]
		begin, lasts, left = min(60, p.Period/10), f.For.Low, f.Speed.High
		if f.Errors.Low >= 1 {
			left = 0
		}
	}
	end := p.Period + p.Objective.Within
	var queue []float64 // by second of arrival
	first, saved := 0, 0.0
	patience := max(int(p.Objective.Within/step), 1)
	for t := 0; float64(t)*step < end; t++ {
		now := float64(t) * step
		if now < p.Period {
			queue = append(queue, rate*step)
		}
		now += step / 2
		power := capacity * step
		if now >= begin && now < begin+lasts {
			power *= left
		}
		first = max(first, t-patience)
		for first < len(queue) && power > 0 {
			served := min(power, queue[first])
			queue[first] -= served
			power -= served
			saved += served
			if queue[first] > 1e-12 {
				break
			}
			first++
		}
	}
	return min(saved/(rate*p.Period), 1)
}
