// The finder leads along a path of roles and names, each step within the one element of the step
// before it. Roles and names are those of Chromium's accessibility tree (HTML-AAM, accname) as far
// as the inspector's pages have them; for the browser to build that tree for each look-up would
// take a third of the tests' time. TestLooks compares the two.
(() => {
	/** The elements that have a role without an attribute role. */
	const tags = {
		article: 'article',
		button: 'button, input:is([type=button], [type=submit], [type=reset], [type=image], [type=file])',
		cell: 'td',
		checkbox: 'input[type=checkbox]',
		columnheader: 'th',
		combobox: 'select:not([multiple], [size]), input[list]',
		Date: 'input[type=date]',
		DateTime: 'input:is([type=datetime-local], [type=month], [type=week])',
		dialog: 'dialog',
		DisclosureTriangle: 'details > summary',
		form: 'form',
		group: 'fieldset, details, optgroup',
		heading: 'h1, h2, h3, h4, h5, h6',
		image: 'img',
		InputTime: 'input[type=time]',
		link: 'a[href]',
		list: 'ul, ol',
		listbox: 'select:is([multiple], [size])',
		listitem: 'li',
		navigation: 'nav',
		option: 'option',
		progressbar: 'progress',
		radio: 'input[type=radio]',
		region: 'section',
		row: 'tr',
		searchbox: 'input[type=search]:not([list])',
		slider: 'input[type=range]',
		spinbutton: 'input[type=number]',
		status: 'output',
		table: 'table',
		textbox: 'textarea, input:is(:not([type]), [type=text], [type=email], [type=url], [type=tel], [type=password]):not([list])',
	};
	const selector = role => `:is(${tags[role] ?? ''}):not([role]), [role=${role === 'image' ? 'img' : role}]`;

	/** The roles whose name can be their content. */
	const told = new Set([
		'button', 'cell', 'checkbox', 'columnheader', 'DisclosureTriangle', 'gridcell', 'heading', 'link', 'menuitem',
		'option', 'radio', 'row', 'switch', 'tab', 'treeitem',
	]);

	const drawn = el => el.checkVisibility({visibilityProperty: true});

	const shown = el => {
		const modal = [...document.querySelectorAll('dialog:modal')].at(-1);
		return drawn(el.closest('select') ?? el) && !el.closest('[aria-hidden=true], [inert]') && (!modal || modal.contains(el));
	};

	const squeeze = s => s.trim().replace(/\s+/g, ' ');

	/** The text that the style sheet puts before or after an element. */
	const generated = (el, where) => {
		const {content} = getComputedStyle(el, where);
		return content.startsWith('"') && !content.includes('" / "') ? JSON.parse(content) : '';
	};

	/** The text of an element as a part of a name; what is not shown counts where the element is hidden itself. */
	const text = (el, hidden) => {
		let out = generated(el, '::before');
		for (const n of el.childNodes) {
			if (n.nodeType === Node.TEXT_NODE) out += n.data;
			if (n.nodeType !== Node.ELEMENT_NODE) continue;
			const {display} = getComputedStyle(n);
			if (!hidden && (display !== 'contents' && !drawn(n) || n.getAttribute('aria-hidden') === 'true')) continue;
			const inside = n.getAttribute('aria-label') || (n.matches('input, select, textarea') ? '' : n.alt ?? text(n, hidden));
			out += n.matches('br') ? ' ' : /^(inline|contents)$/.test(display) ? inside : ` ${inside} `;
		}
		return out + generated(el, '::after');
	};

	const name = (el, role) => {
		const labels = el.getAttribute('aria-labelledby')?.trim().split(/\s+/).map(id => document.getElementById(id)).filter(Boolean) ?? [];
		const part = el.querySelector(':scope > :is(legend, caption)');
		const own = el.labels?.length ? [...el.labels].map(l => text(l)).join(' ')
			: el.matches('fieldset, table') ? part && text(part)
			: el.matches('[type=button], [type=submit], [type=reset]') && el.matches('input') ? el.value
			: el.alt ?? (el.matches('option, optgroup') ? el.label : told.has(role) ? text(el) : '');
		return [labels.map(l => l.getAttribute('aria-label') || text(l, !shown(l))).join(' '), el.getAttribute('aria-label'), own, el.title, el.placeholder]
			.map(s => squeeze(s || '')).find(Boolean) ?? '';
	};

	/** What a step leads to in an element. */
	const within = (root, {roles, name: wanted, any, nth, attr, value}) => {
		let found = [];
		for (const el of root.querySelectorAll(roles.map(selector).join())) {
			if (attr && el.getAttribute(attr) !== value || !shown(el)) continue;
			const role = roles.find(r => el.matches(selector(r))), its = name(el, role);
			if (any ? its || !el.matches('section:not([role])') : its === wanted) found.push({el, role, name: its});
		}
		// The list of a combo box has the same label as the box, which is the field.
		const boxes = found.filter(f => f.role === 'combobox').map(f => f.name);
		found = found.filter(f => f.role !== 'listbox' || !boxes.includes(f.name));
		return nth < 0 ? found : found.slice(nth, nth + 1);
	};

	/** The matches of a path, or {step, there}: the step that leads not to one element but to so many. */
	const follow = path => {
		let found = [{el: document}];
		for (const [at, step] of path.entries()) {
			if (found.length !== 1) return {step: at - 1, there: found.length};
			found = within(found[0].el, step);
		}
		return {found};
	};

	/** Lets the page do what its scripts do in the next frame. */
	const frame = () => new Promise(done => { requestAnimationFrame(done); setTimeout(done, 100) });

	window.finder = {
		/** Role and name of every match. */
		async all(path) {
			await frame();
			const {found, ...missed} = follow(path);
			return {...missed, value: found?.map(({role, name}) => ({role, name}))};
		},
		/** What a function returns that is called with the one match as its this. */
		async use(path, f, args) {
			await frame();
			const {found, ...missed} = follow(path);
			if (!found) return missed;
			if (found.length !== 1) return {step: path.length - 1, there: found.length};
			return {value: await f.apply(found[0].el, args)};
		},
	};
})()
