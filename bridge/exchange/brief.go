package exchange

// Briefs are Outlines as far as they are known without reading the log: Server,
// Method, Summary, Start and Took are left out. They are for those who go through
// all exchanges of a long log.
func (x *Index) Briefs(from, n int) []Outline {
	x.mu.Lock()
	defer x.mu.Unlock()
	from = min(max(from, 1), len(x.list)+1)
	list := x.list[from-1 : min(from-1+max(n, 0), len(x.list))]
	out := make([]Outline, len(list))
	for i, r := range list {
		out[i] = Outline{
			Number: from + i, First: int64(r.first), Final: int64(r.final), Session: r.session.name,
			Call: int(r.call), Rounds: int(r.rounds), Questions: int(r.questions), State: r.state(),
		}
	}
	return out
}
