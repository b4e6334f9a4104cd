// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Steps through a page, and shows where a key is looked up. Cells are named TABLE-PLACE-CELL. In the
// words that all engines know.
"use strict";

(function () {
	function find(id) {
		return document.getElementById(id);
	}

	function all(selector) {
		return Array.prototype.slice.call(document.querySelectorAll(selector));
	}

	function isVisible(element) {
		return element.getClientRects().length > 0;
	}

	function cellsOf(name) {
		return all('rect[data-p="' + name + '"]');
	}

	// Frames the cells of a list of names, and no others, in the way of a class.
	function frame(names, kind) {
		var cells = [], first;

		all("rect." + kind).forEach(function (cell) {
			cell.classList.remove(kind);
		});
		names.forEach(function (name) {
			cells = cells.concat(cellsOf(name));
		});
		cells.forEach(function (cell) {
			cell.classList.add(kind);
		});
		first = cells.filter(isVisible)[0];
		if (first)
			first.scrollIntoView({ block: "nearest", inline: "nearest" });
	}

	// --- steps ---

	var list = find("steps"), steps = all("#steps li"), now = 0;
	var changing = all("g[data-at]").map(function (line) {
		var at = line.getAttribute("data-at").split(" ");

		return { line: line, first: Number(at[0]), last: Number(at[1]) };
	});

	function namesOf(step, attribute) {
		return step.getAttribute(attribute).split(" ").filter(Boolean);
	}

	function showControls() {
		var last = steps.length - 1;

		if (!find("controls"))
			return;
		find("at").textContent = now + " of " + last + ": " + steps[now].textContent;
		find("slider").value = now;
		find("first").disabled = find("back").disabled = now === 0;
		find("next").disabled = find("last").disabled = now === last;
	}

	function go(n) {
		now = Math.max(0, Math.min(steps.length - 1, n));
		changing.forEach(function (one) {
			one.line.style.display = one.first <= now && now <= one.last ? "" : "none";
		});
		steps.forEach(function (step, i) {
			if (i === now)
				step.setAttribute("aria-current", "step");
			else
				step.removeAttribute("aria-current");
		});
		list.scrollTop = steps[now].offsetTop - list.clientHeight / 2;
		showControls();
		frame(namesOf(steps[now], "data-from"), "from");
		frame(namesOf(steps[now], "data-now"), "now");
	}

	var moves = {
		first: function () { go(0); },
		back: function () { go(now - 1); },
		next: function () { go(now + 1); },
		last: function () { go(steps.length - 1); }
	};
	var keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last" };

	function press(event) {
		var isTyping = event.target.id === "key";

		if (isTyping || event.altKey || event.ctrlKey || event.metaKey || !keys[event.key])
			return;
		event.preventDefault();
		moves[keys[event.key]]();
	}

	if (find("controls")) {
		Object.keys(moves).forEach(function (id) {
			find(id).addEventListener("click", moves[id]);
		});
		find("slider").addEventListener("input", function (event) {
			go(Number(event.target.value));
		});
		document.addEventListener("keydown", press);
		steps.forEach(function (step, i) {
			step.addEventListener("click", function () { go(i); });
		});
	}

	// --- a key that is typed ---

	// The last filter of the page is the one that is asked, and its tables are the last.
	var shown = JSON.parse(find("data").textContent).show, filter = shown[shown.length - 1];
	var firstTable = 0;

	shown.slice(0, -1).forEach(function (one) {
		firstTable += one.tables.length;
	});

	function isSet(name) {
		return cellsOf(name).some(function (cell) {
			return isVisible(cell) && !cell.classList.contains("e");
		});
	}

	function verdict(names) {
		if (!names.every(function (name) { return cellsOf(name).length; }))
			return "";
		return names.every(isSet) ? ": all set at this step: maybe" :
			": not all set at this step: surely not";
	}

	// Which cells a table is asked for, and that in words.
	function tell(asked, table) {
		var names = [];

		function add(place, n) {
			for (var i = 0; i < n; i++)
				names.push(table + "-" + place + "-" + i);
		}

		if (asked.bits) {
			asked.bits.forEach(function (bit) { add(bit, 1); });
			return { names: names, text: "bits " + asked.bits.join(", ") + verdict(names) };
		}
		if (asked.buckets) {
			asked.buckets.forEach(function (bucket) { add(bucket, 8); });
			return {
				names: names,
				text: "fingerprint " + asked.fingerprint + ", buckets " + asked.buckets.join(" and ")
			};
		}
		add(asked.quotient, 4);
		return { names: names, text: "quotient " + asked.quotient + ", remainder " + asked.remainder };
	}

	function answer() {
		var text = find("key").value, names = [], words = [];

		filter.tables.forEach(function (table, i) {
			var asked = text === "" ? null : ask(table, filter.key, text);
			var told = asked && tell(asked, firstTable + i);

			names = told ? names.concat(told.names) : names;
			words = told ? words.concat(told.text) : words;
		});
		if (text !== "" && !words.length)
			words = ["This is no key of this filter."];
		find("answer").textContent = words.join("; ");
		frame(names, "typed");
	}

	if (!filter.tables.some(function (table) { return isOpen(table, filter.key); })) {
		find("key").disabled = true;
		find("answer").textContent = "The hash of this filter has a secret seed, which is not in this " +
			"page: 'baleen show IMAGE KEY' answers.";
	}
	find("key").addEventListener("input", answer);
	find("ask").addEventListener("submit", function (event) {
		event.preventDefault();
	});
	go(0);
})();
