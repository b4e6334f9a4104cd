// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where a table is asked for a key, as `baleen show -j` says it, for hashes that have no secret.
// MurmurHash3_x86_32: Appleby 2011; FNV-1a: Fowler, Noll and Vo. In the words that all engines know.
"use strict";

function utf8(text) {
	var encoded = encodeURIComponent(text), bytes = [], i;

	for (i = 0; i < encoded.length; i++) {
		if (encoded[i] === "%") {
			bytes.push(parseInt(encoded.slice(i + 1, i + 3), 16));
			i += 2;
		} else {
			bytes.push(encoded.charCodeAt(i));
		}
	}
	return bytes;
}

function rotate(x, n) {
	return x << n | x >>> 32 - n;
}

function scramble(four) {
	return Math.imul(rotate(Math.imul(four, 0xcc9e2d51), 15), 0x1b873593);
}

function murmur3(bytes, seed) {
	var whole = bytes.length - bytes.length % 4, state = seed, tail = 0, i;

	for (i = 0; i < whole; i += 4) {
		state ^= scramble(bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16 | bytes[i + 3] << 24);
		state = Math.imul(rotate(state, 13), 5) + 0xe6546b64 | 0;
	}
	for (i = bytes.length - 1; i >= whole; i--)
		tail = tail << 8 | bytes[i];
	state ^= scramble(tail) ^ bytes.length;
	state = Math.imul(state ^ state >>> 16, 0x85ebca6b);
	state = Math.imul(state ^ state >>> 13, 0xc2b2ae35);
	return (state ^ state >>> 16) >>> 0;
}

function fnv1a(bytes) {
	var state = 0x811c9dc5, i;

	for (i = 0; i < bytes.length; i++)
		state = Math.imul(state ^ bytes[i], 0x01000193);
	return state >>> 0;
}

// The bytes of a key that are hashed, or null where the key is none of this table.
function bytesOf(spec, form, text) {
	var bytes = utf8(text), parts;

	if (spec === "src" || spec === "dst") {
		parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
		bytes = parts ? parts.slice(1).map(Number) : [256];
		return Math.max.apply(null, bytes) < 256 ? bytes : null;
	}
	if (spec !== "string")
		return null;
	if (/hex/.test(form)) {
		if (!/^([0-9a-f]{2})+$/i.test(text))
			return null;
		return text.match(/../g).map(function (two) {
			return parseInt(two, 16);
		});
	}
	return /quoted/.test(form) ? [39].concat(bytes, 39) : bytes;
}

// The highest `n` bits of 32.
function highest(hash, n) {
	return Math.floor(hash / Math.pow(2, 32 - n));
}

function askQuotient(table, hash) {
	var q = table.quotient_bits, quotient = highest(hash, q);
	var rest = hash - quotient * Math.pow(2, 32 - q);

	return {
		quotient: quotient,
		remainder: Math.floor(rest * Math.pow(2, table.remainder_bits - (32 - q)))
	};
}

function askCuckoo(table, hash) {
	var f = hash % Math.pow(2, table.slot_bits) || 1, m = table.buckets;
	var partner = murmur3([f & 255, f >>> 8 & 255, f >>> 16 & 255, f >>> 24], table.hash_seed);

	return { fingerprint: f, buckets: [hash % m, ((hash % m ^ partner) >>> 0) % m] };
}

function askBits(table, bytes, text) {
	var form = table.hash_form || "", seed = table.hash_seed || 0, m = table.positions;
	var step = table.hash === "bip37" ? 0xfba4c795 : 1, bits = [], i, hash;

	for (i = 0; i < table.hashes; i++) {
		if (table.hash === "murmur3-fnv1a" && i) {
			bits.push(fnv1a(/quoted/.test(form) ? utf8(text) : bytes) % m);
			continue;
		}
		hash = murmur3(bytes, seed + Math.imul(i, step) | 0);
		bits.push(/unsigned/.test(form) ? hash % m : ((hash | 0) % m + m) % m);
	}
	return { bits: bits };
}

// Has the hash of a table of keys of `spec` no secret?
function isOpen(table, spec) {
	return spec === "fingerprint" || ["murmur3", "murmur3-fnv1a", "bip37"].indexOf(table.hash) >= 0;
}

// Where a table of show -j is asked for the key `text`; `spec` is what its keys are. null: nowhere, or
// its hash has a secret.
function ask(table, spec, text) {
	var bytes, digits;

	if (!isOpen(table, spec))
		return null;
	if (spec === "fingerprint") {
		digits = text.replace(/:/g, "");
		if (!/^[01]{1,32}$/.test(digits))
			return null;
		while (digits.length < 32)
			digits += "0";
		return askQuotient(table, parseInt(digits, 2));
	}
	bytes = bytesOf(spec, table.hash_form || "", text);
	if (!bytes)
		return null;
	if (table.kind === "quotient")
		return askQuotient(table, murmur3(bytes, table.hash_seed));
	if (table.kind === "cuckoo")
		return askCuckoo(table, murmur3(bytes, table.hash_seed));
	return askBits(table, bytes, text);
}
