// The page of `mt serve`: asks this server, and nobody else.
'use strict';

const WAIT = 350; // milliseconds after a key before a translation is asked for
const FLAGS = {
  empty: 'The translation is empty.',
  repetition: 'Words come again and again.',
  copied_source: 'Much of it is the text itself.',
  unusual_length: 'It is unusually long or short.',
  numbers_differ: 'The numbers are not those of the text.',
  truncated: 'It was cut off.',
};
const $ = (id) => document.getElementById(id);
const names = new Intl.DisplayNames([navigator.language || 'en'], { type: 'language' });
let languages = [];
let limit = 0;
let timer = 0;
let running = null; // what can be aborted
let shown = null; // { text, translation, alternatives } that is on the page
let links = []; // for each word of the translation, the words of the text
let current = -1; // the word of the translation that is pointed at

async function ask(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if ($('key').value) headers.Authorization = `Bearer ${$('key').value}`;
  const answer = await fetch(path, body === undefined ? { headers } : {
    method: 'POST', headers, body: JSON.stringify(body), signal: running?.signal,
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || `The server answered ${answer.status}.`);
  return value;
}

function nameOf(language) {
  try {
    const name = names.of(language.code);
    return name === language.code ? language.name : name;
  } catch {
    return language.name;
  }
}

function fill(select, some, chosen) {
  select.replaceChildren(...some.map(([code, name]) => new Option(name, code)));
  if (some.some(([code]) => code === chosen)) select.value = chosen;
}

function fillTargets(chosen) {
  const source = $('source').value;
  const codes = new Set(languages.filter((each) => source === 'auto' || each.code === source)
    .flatMap((each) => each.targets.filter((code) => code !== each.code)));
  fill($('target'), languages.filter((each) => codes.has(each.code))
    .map((each) => [each.code, nameOf(each)]), chosen);
}

function remember() {
  history.replaceState(null, '', `#${$('source').value}|${$('target').value}`);
}

function showError(message) {
  $('error').hidden = !message;
  $('error').textContent = message;
}

function grow() {
  const text = $('text');
  text.style.height = 'auto';
  text.style.height = `${text.scrollHeight}px`;
  $('count').textContent = `${[...text.value].length} / ${limit}`;
}

// A line as words and what stands between them: the words are those that the server counts.
function spans(text, first) {
  let number = first;
  return text.split(/([\s\u2028\u2029]+)/u).map((part, index) => {
    if (index % 2 || !part) return document.createTextNode(part);
    const span = document.createElement('span');
    span.dataset.word = number++;
    span.textContent = part;
    return span;
  });
}

function showWords() {
  $('mirror').replaceChildren(...spans($('text').value, 0), document.createTextNode('\n'));
  $('translation').replaceChildren(...spans(shown?.translation ?? '', 0));
  links = [];
  mark(-1);
}

function wordsIn(node, numbers, isOn) {
  for (const number of numbers) {
    node.querySelector(`[data-word="${number}"]`)?.classList.toggle('marked', isOn);
  }
}

function mark(target, sources = links[target] ?? []) {
  document.querySelectorAll('.marked').forEach((node) => node.classList.remove('marked'));
  current = target;
  if (target < 0 && !sources.length) {
    $('linked').textContent = '';
    return;
  }
  const targets = target >= 0 ? [target]
    : links.flatMap((some, number) => (some.some((one) => sources.includes(one)) ? [number] : []));
  wordsIn($('translation'), targets, true);
  wordsIn($('mirror'), sources, true);
  const said = (node, numbers) => numbers.map(
    (number) => node.querySelector(`[data-word="${number}"]`)?.textContent ?? '').join(' ');
  $('linked').textContent = `${said($('translation'), targets)}: ${said($('mirror'), sources)}`;
}

function showFlags(flags) {
  $('flags').hidden = !flags.length;
  $('flags').querySelector('ul').replaceChildren(...flags.map((flag) => {
    const item = document.createElement('li');
    item.textContent = FLAGS[flag] ?? flag;
    return item;
  }));
}

function showAlternatives() {
  const others = shown.alternatives.filter((each) => each !== shown.translation && each.trim());
  $('alternatives').hidden = !others.length;
  $('alternatives').querySelector('ol').replaceChildren(...others.map((text) => {
    const item = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.dir = 'auto';
    button.textContent = text;
    button.addEventListener('click', () => choose(text));
    item.append(button);
    return item;
  }));
}

function choose(text) {
  shown.translation = text;
  showAlternatives();
  showWords();
  align();
  $('translation').focus();
}

async function align() {
  const { text, translation, source, target } = shown;
  if (!translation.trim() || source === target) {
    showFlags([]);
    return;
  }
  try {
    const found = await ask('/mt/alignment', { q: text, translation, source, target });
    if (shown?.translation !== translation || shown?.text !== text) return;
    let [sources, targets] = [0, 0];
    links = [];
    for (const line of found.lines) {
      for (const [from, to] of line.links) (links[targets + to] ??= []).push(sources + from);
      const count = (words) => words.filter(Boolean).length;
      sources += count(line.source);
      targets += count(line.target);
    }
    links = Array.from({ length: targets }, (_, number) => links[number] ?? []);
    showFlags([...new Set(found.lines.flatMap((line) => line.flags))]);
    document.documentElement.dataset.aligned = 'yes';
  } catch (error) {
    showFlags([]); // a pair that goes by another language has no alignment
  }
}

async function translate() {
  clearTimeout(timer);
  running?.abort();
  const text = $('text').value;
  delete document.documentElement.dataset.aligned;
  showError('');
  if (!text.trim()) {
    shown = null;
    $('state').textContent = '';
    $('detected').textContent = '';
    $('alternatives').hidden = $('flags').hidden = true;
    $('translation').classList.remove('stale');
    showWords();
    return;
  }
  running = new AbortController();
  const mine = running;
  $('state').textContent = 'Translating…';
  $('translation').classList.add('stale');
  const [source, target] = [$('source').value, $('target').value];
  try {
    const found = await ask('/translate', { q: text, source, target, alternatives: 2 });
    if (mine !== running) return;
    const detected = found.detectedLanguage;
    const language = languages.find((each) => each.code === detected?.language);
    $('detected').textContent = language ? `${nameOf(language)}?` : '';
    shown = {
      text, target, source: detected?.language ?? source, translation: found.translatedText,
      alternatives: [found.translatedText, ...found.alternatives],
    };
    $('state').textContent = '';
    $('translation').classList.remove('stale');
    showAlternatives();
    showWords();
    await align();
  } catch (error) {
    if (error.name === 'AbortError' || mine !== running) return;
    $('state').textContent = '';
    showError(error.message);
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(translate, WAIT);
}

function swap() {
  const [source, target] = [$('source').value, $('target').value];
  const from = source === 'auto' ? shown?.source : source;
  if (!languages.find((each) => each.code === target)?.targets.some((code) => code !== target)) {
    showError('Nothing here translates from that language.');
    return;
  }
  if (shown) $('text').value = shown.translation;
  $('source').value = target;
  fillTargets(from);
  remember();
  grow();
  translate();
}

function walk(event) {
  const last = $('translation').querySelectorAll('[data-word]').length - 1;
  const to = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: last }[event.key];
  if (event.key === 'Escape') mark(-1);
  if (to === undefined || last < 0) return;
  event.preventDefault();
  mark(Math.max(0, Math.min(to, last)));
}

function listen() {
  $('form').addEventListener('submit', (event) => event.preventDefault());
  $('text').addEventListener('input', () => { grow(); mark(-1); $('mirror').replaceChildren(); later(); });
  $('source').addEventListener('change', () => { fillTargets($('target').value); remember(); translate(); });
  $('target').addEventListener('change', () => { remember(); translate(); });
  $('key').addEventListener('change', translate);
  $('swap').addEventListener('click', swap);
  $('clear').addEventListener('click', () => { $('text').value = ''; grow(); translate(); $('text').focus(); });
  $('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(shown?.translation ?? '');
      $('state').textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren($('translation'));
      $('state').textContent = 'Press Ctrl+C';
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey && event.key === 'Enter') translate();
    if (event.altKey && event.key.toLowerCase() === 's') { event.preventDefault(); swap(); }
  });
  const words = $('translation');
  words.addEventListener('mouseover', (event) => mark(Number(event.target.dataset.word ?? -1)));
  words.addEventListener('mouseleave', () => mark(-1));
  words.addEventListener('click', (event) => mark(Number(event.target.dataset.word ?? -1)));
  words.addEventListener('keydown', walk);
  // The words of the text lie beneath its field.
  $('text').addEventListener('mousemove', (event) => {
    const word = document.elementsFromPoint(event.clientX, event.clientY)
      .find((node) => node.parentNode === $('mirror'))?.dataset.word;
    mark(-1, word === undefined ? [] : [Number(word)]);
  });
  $('text').addEventListener('mouseleave', () => mark(-1));
}

async function begin() {
  listen();
  const settings = await ask('/frontend/settings');
  languages = await ask('/languages');
  limit = settings.charLimit;
  $('text').maxLength = limit;
  $('key-row').hidden = !settings.keyRequired;
  const [source, target] = decodeURIComponent(location.hash.slice(1)).split('|');
  const some = languages.filter((each) => each.targets.some((code) => code !== each.code));
  fill($('source'), [['auto', 'Detect'], ...some.map((each) => [each.code, nameOf(each)])],
    source || settings.language.source.code);
  fillTargets(target || settings.language.target.code);
  grow();
  document.documentElement.dataset.ready = 'yes';
}

begin().catch((error) => showError(error.message));
