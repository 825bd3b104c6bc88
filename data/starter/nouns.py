"""The nouns of the starter corpus, written as a small dictionary.

The table is plain text, one entry a line, so that a student can read it and add to it.  The German
side stands left of "=", the English side right of it.  Nouns are grouped by *kind* (person, food,
...); verbs and adjectives name the kinds, or the single nouns, that they can go with, which is
what keeps the sentences sensible.
"""

from __future__ import annotations

from dataclasses import dataclass

# "der Mann, Männer = man, men": article, singular, plural; a noun without a plural is uncountable
# (Wasser), "pl" marks a noun without a singular (Eltern), "*" one of the weak masculines (den
# Jungen).  An English plural is given only where it is irregular.
NOUN_TABLE = {
    "person": """
        der Mann, Männer = man, men
        die Frau, Frauen = woman, women
        das Kind, Kinder = child, children
        das Mädchen, Mädchen = girl
        der Junge*, Jungen = boy
        der Lehrer, Lehrer = teacher
        der Arzt, Ärzte = doctor
        der Student*, Studenten = student
        der Schüler, Schüler = pupil
        der Freund, Freunde = friend
        der Kollege*, Kollegen = colleague
        der Nachbar*, Nachbarn = neighbor
        der Polizist*, Polizisten = policeman, policemen
        der Koch, Köche = cook
        der Bäcker, Bäcker = baker
        der Bauer*, Bauern = farmer
        der Gast, Gäste = guest
        der Kellner, Kellner = waiter
        der Maler, Maler = painter
        der Ingenieur, Ingenieure = engineer
        der Anwalt, Anwälte = lawyer
        der Verkäufer, Verkäufer = salesman, salesmen
        der Journalist*, Journalisten = journalist
        der Tourist*, Touristen = tourist
        die Dame, Damen = lady, ladies
    """,
    "family": """
        der Vater, Väter = father
        die Mutter, Mütter = mother
        der Bruder, Brüder = brother
        die Schwester, Schwestern = sister
        der Sohn, Söhne = son
        die Tochter, Töchter = daughter
        der Onkel, Onkel = uncle
        die Tante, Tanten = aunt
        der Großvater, Großväter = grandfather
        die Großmutter, Großmütter = grandmother
        der Chef, Chefs = boss
        pl Eltern = parents
    """,
    "animal": """
        der Hund, Hunde = dog
        die Katze, Katzen = cat
        das Pferd, Pferde = horse
        die Kuh, Kühe = cow
        der Vogel, Vögel = bird
        das Schaf, Schafe = sheep, sheep
        die Ente, Enten = duck
        der Hase*, Hasen = rabbit
        der Bär*, Bären = bear
        die Maus, Mäuse = mouse, mice
    """,
    "food": """
        der Apfel, Äpfel = apple
        das Ei, Eier = egg
        die Kartoffel, Kartoffeln = potato, potatoes
        die Birne, Birnen = pear
        die Orange, Orangen = orange
        die Tomate, Tomaten = tomato, tomatoes
        die Banane, Bananen = banana
        die Pizza, Pizzas = pizza
        das Brötchen, Brötchen = roll
        der Kuchen, Kuchen = cake
        der Salat, Salate = salad
        die Suppe, Suppen = soup
        das Brot = bread
        der Käse = cheese
        das Fleisch = meat
        der Reis = rice
        die Schokolade = chocolate
    """,
    "drink": """
        der Kaffee = coffee
        der Tee = tea
        das Wasser = water
        die Milch = milk
        der Saft = juice
        der Wein = wine
        das Bier = beer
    """,
    "text": """
        das Buch, Bücher = book
        die Zeitung, Zeitungen = newspaper
        der Brief, Briefe = letter
        der Roman, Romane = novel
        das Gedicht, Gedichte = poem
        die E-Mail, E-Mails = email
        die Geschichte, Geschichten = story, stories
        der Bericht, Berichte = report
        der Artikel, Artikel = article
    """,
    "vehicle": """
        das Auto, Autos = car
        das Fahrrad, Fahrräder = bicycle
        das Motorrad, Motorräder = motorcycle
        das Boot, Boote = boat
    """,
    "transport": """
        der Bus, Busse = bus, buses
        der Zug, Züge = train
        das Schiff, Schiffe = ship
        das Flugzeug, Flugzeuge = plane
        die Straßenbahn, Straßenbahnen = tram
        das Taxi, Taxis = taxi
    """,
    "furniture": """
        der Tisch, Tische = table
        der Stuhl, Stühle = chair
        das Bett, Betten = bed
        der Schrank, Schränke = cupboard
        das Regal, Regale = shelf, shelves
        das Sofa, Sofas = sofa
        der Teppich, Teppiche = carpet
        der Spiegel, Spiegel = mirror
    """,
    "item": """
        der Schlüssel, Schlüssel = key
        die Tasche, Taschen = bag
        der Stift, Stifte = pen
        das Messer, Messer = knife, knives
        die Gabel, Gabeln = fork
        der Löffel, Löffel = spoon
        der Regenschirm, Regenschirme = umbrella
        der Ball, Bälle = ball
        das Foto, Fotos = photo
        das Bild, Bilder = picture
        die Karte, Karten = map
        das Heft, Hefte = notebook
        der Ring, Ringe = ring
    """,
    "vessel": """
        die Tasse, Tassen = cup
        der Teller, Teller = plate
        die Flasche, Flaschen = bottle
        das Glas, Gläser = glass, glasses
        der Koffer, Koffer = suitcase
        das Paket, Pakete = package
    """,
    "device": """
        die Lampe, Lampen = lamp
        der Computer, Computer = computer
        die Kamera, Kameras = camera
        das Handy, Handys = phone
        das Radio, Radios = radio
        die Uhr, Uhren = clock
    """,
    "clothes": """
        der Hut, Hüte = hat
        der Mantel, Mäntel = coat
        das Hemd, Hemden = shirt
        das Kleid, Kleider = dress, dresses
        die Jacke, Jacken = jacket
        der Schuh, Schuhe = shoe
        der Rock, Röcke = skirt
        der Pullover, Pullover = sweater
        die Mütze, Mützen = cap
    """,
    "room": """
        die Küche, Küchen = kitchen
        das Zimmer, Zimmer = room
        das Büro, Büros = office
        die Wohnung, Wohnungen = apartment
    """,
    "place": """
        das Haus, Häuser = house
        die Schule, Schulen = school
        die Kirche, Kirchen = church, churches
        der Bahnhof, Bahnhöfe = train station
        der Flughafen, Flughäfen = airport
        das Museum, Museen = museum
        das Restaurant, Restaurants = restaurant
        das Café, Cafés = café
        die Bibliothek, Bibliotheken = library, libraries
        das Krankenhaus, Krankenhäuser = hospital
        der Supermarkt, Supermärkte = supermarket
        das Theater, Theater = theater
        das Kino, Kinos = cinema
        das Hotel, Hotels = hotel
        die Universität, Universitäten = university, universities
        das Schloss, Schlösser = castle
        die Brücke, Brücken = bridge
        der Turm, Türme = tower
    """,
    "outdoors": """
        der Park, Parks = park
        der Wald, Wälder = forest
        der Garten, Gärten = garden
        die Stadt, Städte = city, cities
        das Dorf, Dörfer = village
        die Straße, Straßen = street
        der Markt, Märkte = market
        der See, Seen = lake
        der Strand, Strände = beach, beaches
        der Berg, Berge = mountain
        die Insel, Inseln = island
    """,
    "plant": """
        die Blume, Blumen = flower
        der Baum, Bäume = tree
    """,
    "part": """
        die Tür, Türen = door
        das Fenster, Fenster = window
    """,
    "idea": """
        das Problem, Probleme = problem
        die Frage, Fragen = question
        die Antwort, Antworten = answer
        die Idee, Ideen = idea
        der Plan, Pläne = plan
        der Fehler, Fehler = mistake
        die Rechnung, Rechnungen = bill
        das Geschenk, Geschenke = present
        der Film, Filme = film
        das Spiel, Spiele = game
        das Lied, Lieder = song
        die Musik = music
        das Geld = money
    """,
    "support": """
        die Hilfe = help
    """,
}


@dataclass(frozen=True, kw_only=True)
class Noun:
    """One dictionary entry; `weak` marks masculines that take -n or -en in the oblique cases."""

    german: str
    plural: str
    gender: str
    english: str
    english_plural: str
    kind: str
    weak: bool

    @property
    def countable(self) -> bool:
        """Whether the noun has both a singular and a plural."""
        return bool(self.plural) and bool(self.german)


def table_lines(table: str) -> list[str]:
    """The entries of a table, without indentation and empty lines."""
    return [line.strip() for line in table.splitlines() if line.strip()]


def split_pair(line: str, separator: str = "=") -> tuple[str, str]:
    """The two stripped sides of an entry."""
    left, right = line.split(separator)
    return left.strip(), right.strip()


def pairs(table: str) -> list[tuple[str, str]]:
    """Every entry of a German = English table."""
    return [split_pair(line) for line in table_lines(table)]


def parse_noun(line: str, kind: str) -> Noun:
    """Read "der Junge*, Jungen = boy, boys"."""
    german, english = split_pair(line)
    article, _, forms = german.partition(" ")
    singular, _, plural = forms.partition(", ")
    english_singular, _, english_plural = english.partition(", ")
    if article == "pl":
        singular, plural, english_singular, english_plural = "", forms, "", english
    return Noun(
        german=singular.rstrip("*"),
        plural=plural,
        gender={"der": "m", "die": "f", "das": "n", "pl": "p"}[article],
        english=english_singular,
        english_plural=english_plural or english_singular + "s",
        kind=kind,
        weak=singular.endswith("*"),
    )


NOUNS = [
    parse_noun(line, kind) for kind, table in NOUN_TABLE.items() for line in table_lines(table)
]
NOUN_BY_NAME = {noun.german or noun.plural: noun for noun in NOUNS}


def nouns_for(names: tuple[str, ...]) -> list[Noun]:
    """The nouns that a list of kinds and single nouns stands for."""
    return [noun for noun in NOUNS if noun.kind in names or noun.german in names]
